import type { Snapshot } from "tallystick-derive/snapshot";

/** One changed value; null if the agent or the cluster did not exist before, or does not exist any more. */
export type Change = { of: "agent" | "cluster"; id: string; field: string; before: unknown; after: unknown };

export type SnapshotChanges = {
  asOf: Snapshot["asOf"];
  digest: { before: string | null; after: string | null };
  changes: Change[];
};

/** The differences between the agents and clusters of two derivations, ordered by id, and by field as published. */
export function snapshotChanges(before: Snapshot, after: Snapshot): SnapshotChanges {
  return {
    asOf: after.asOf,
    digest: { before: before.digest, after: after.digest },
    changes: [
      ...changesOf("agent", before.agents, after.agents),
      ...changesOf("cluster", before.clusters, after.clusters),
    ],
  };
}

type Things = { [id: string]: { [field: string]: unknown } };

function changesOf(of: Change["of"], before: Things, after: Things): Change[] {
  return union(before, after)
    .sort()
    .flatMap((id) =>
      union(after[id] ?? {}, before[id] ?? {}).flatMap((field) => {
        const change = {
          of,
          id,
          field,
          before: before[id]?.[field] ?? null,
          after: after[id]?.[field] ?? null,
        };
        return JSON.stringify(change.before) === JSON.stringify(change.after) ? [] : [change];
      }),
    );
}

function union(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}
