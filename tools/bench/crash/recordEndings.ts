import { changedPaths, type DiskImage, nameOf, takeImage } from "./diskImage.ts";
import { LastingDisk } from "./lastingDisk.ts";
import { type DiskWrite, watchWrites } from "./watchWrites.ts";

/** How a process came to its end: it was killed, or the machine lost its power and everything that was not synced. */
export type EndingKind = "killed" | "power lost";

/** The files that a process leaves when it ends at one of its writes. */
export type Ending<Confirmed> = {
  kind: EndingKind;
  /** For messages: which write, and how much of it was made. */
  at: string;
  disk: DiskImage;
  /** What the process had confirmed to others by then. */
  confirmed: Confirmed;
  /** The state of the chain then. */
  chain: unknown;
};

export type RecordedRun<Confirmed> = {
  endings: Ending<Confirmed>[];
  /** How many writes there were. */
  writes: number;
  /** Files that changed although no watched function wrote them. */
  unseen: string[];
};

export type RunToRecord<Confirmed> = {
  /** The folder with everything that lasts. */
  root: string;
  /** What the process does, from its start to its end. */
  run: () => Promise<unknown>;
  /** A copy of everything that was confirmed to clients so far. */
  confirmed: () => Confirmed;
  /** Reads everything that the process publishes by itself, so that it counts as confirmed. */
  look: () => Promise<void>;
  /** Remembers the state of the chain. */
  keepChain: () => Promise<unknown>;
  bootId: string;
};

/**
 * How many turns of the event loop pass before a write is made. Answers that do not wait for the write are sent
 * in this time.
 */
const TURNS = 12;

/**
 * Runs a process once, and records what it would leave if it ended at any of its writes: before the write,
 * and after a part of it. A write waits until everything that does not depend on it has happened. So the bench
 * finds an answer that comes before the disk has its data.
 */
export async function recordEndings<Confirmed>(
  parameters: RunToRecord<Confirmed>,
): Promise<RecordedRun<Confirmed>> {
  const { root, run, confirmed, look, keepChain, bootId } = parameters;
  const endings: Ending<Confirmed>[] = [];
  const known = new Set<string>();
  const unseen = new Set<string>();
  let last = takeImage(root);
  const lasting = new LastingDisk(root, last);
  /** The writes under way, and all paths that were written since the last image. */
  const underWay = new Set<DiskWrite>();
  let written = new Set<string>();
  let chain = await keepChain();
  let writes = 0;

  const keep = (kind: EndingKind, at: string, disk: DiskImage): void => {
    const now = confirmed();
    const name = `${kind} ${nameOf(disk)} ${JSON.stringify(now)}`;
    if (known.has(name)) return;
    known.add(name);
    endings.push({ kind, at, disk, confirmed: now, chain });
  };
  const take = (write: DiskWrite): void => {
    const disk = takeImage(root);
    for (const at of changedPaths(last, disk))
      if (!isWritten(at) && !isOpened(at, disk, write)) unseen.add(at);
    last = disk;
    written = new Set([...underWay].flatMap(({ paths }) => paths));
    const paths = write.paths.map((one) => one.slice(root.length + 1));
    const what = `write ${writes}, ${write.name} ${paths.join(" to ")}`;
    keep("killed", `before ${what}`, disk);
    keep("power lost", `before ${what}`, lasting.image());
    for (const part of partsOf(write)) {
      const [at = ""] = paths;
      const before = write.empties ? undefined : disk.get(at);
      const content = Buffer.concat([before ?? Buffer.alloc(0), part]);
      keep("killed", `in ${what}, ${part.length} bytes written`, new Map([...disk, [at, content]]));
    }
    writes++;
    underWay.add(write);
    for (const one of write.paths) written.add(one);
  };
  /** Whether a path is a database's new empty file. It is made when the database is opened, which is not a watched write. */
  const isOpened = (at: string, disk: DiskImage, { database, paths: [own = ""] }: DiskWrite): boolean =>
    database !== undefined && own.endsWith(`/${at}`) && disk.get(at)?.length === 0;
  const isWritten = (at: string): boolean =>
    [...written].some((one) => {
      const below = one.slice(root.length + 1);
      return [below, `${below}-wal`, `${below}-journal`].includes(at) || below.startsWith(`${at}/`);
    });

  const stop = await watchWrites({
    watches: (at) => at === root || at.startsWith(`${root}/`),
    before: async (write) => {
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
      await look();
      chain = await keepChain();
      take(write);
    },
    beforeSync: take,
    done: (write) => {
      underWay.delete(write);
      lasting.done(write);
    },
    failed: (write) => underWay.delete(write),
    bootId: () => bootId,
  });
  try {
    await run();
  } finally {
    stop();
  }
  take({ name: "nothing", paths: [] });
  return { endings, writes: writes - 1, unseen: [...unseen] };
}

/** The parts of a write that may be on the disk while the rest is not. */
function partsOf({ appends, empties }: DiskWrite): Buffer[] {
  const sizes = [empties ? 0 : 1, 1, Math.floor((appends?.length ?? 0) / 2), (appends?.length ?? 0) - 1];
  if (appends === undefined) return [];
  return [...new Set(sizes)]
    .filter((size) => size >= 0 && size < appends.length)
    .map((size) => appends.subarray(0, size));
}
