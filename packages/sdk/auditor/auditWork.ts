import type { SignedRecord } from "tallystick-protocol/records/record";
import type { Assignment } from "../audits/assignment.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { unlessDamaged } from "../store/unlessDamaged.ts";
import type { NotShown } from "./askForWork.ts";
import type { Judgement } from "./judge.ts";

/**
 * The longest time that the work of a hire is kept, in milliseconds (SHP §8.3.1). The limit is 30 days; the
 * last day is left for deleting it.
 */
export const MAX_KEPT_MS = 29 * 86_400_000;

/**
 * How far an audit has come at its auditor. The stage is stored before each step:
 *
 * - `asking`: nobody has shown the work yet
 * - `judging`: the work is here, under `bytes/`
 * - `decided`: there is a judgement; the next step signs it as a verdict under `verdict/` and sends it
 * - `posted`: the verdict is in the ledger; the work is deleted
 * - `over`: the audit no longer waits for this auditor, or the ledger refused the verdict finally; the work is
 *   deleted
 */
export type AuditStage = "asking" | "judging" | "decided" | "posted" | "over";

/** One audit at its auditor. Times are milliseconds since 1970. */
export type AuditWork = {
  token: string;
  assignment: Assignment;
  stage: AuditStage;
  seenAt: number;
  /** How often the present step was tried, and when the next try is. */
  tries: number;
  nextAt: number;
  /** Who was asked last and did not show the work. */
  notShown?: NotShown[];
  judgement?: Judgement;
  /** Why the judge, or the ledger, failed at the last try. */
  failure?: string;
};

/** The work that was shown, byte for byte, and when, in milliseconds since 1970. */
type Bytes = { text: string; at: number };

/** What an auditor remembers. The store must be its own. Use `fileStore(folder)` in production. */
export type AuditWorks = ReturnType<typeof auditWorks>;

export function auditWorks(store: KeyValueStore) {
  async function forgetBytes(token: string): Promise<void> {
    await store.delete(`bytes/${token}`);
    for (const key of await store.keys("opinion"))
      if (key.startsWith(`opinion/${token}.`)) await store.delete(key);
  }

  return {
    get: (token: string) => store.get<AuditWork>(`work/${token}`),
    /** Stores a new audit. Returns false, and changes nothing, if the audit is already there. */
    begin: (work: AuditWork) => store.putNew(`work/${work.token}`, work),
    put: (work: AuditWork) => store.put(`work/${work.token}`, work),
    /** All audits but those whose files are damaged, which are logged and left where they are. */
    all: async (
      log: (sentence: string, details?: { [key: string]: unknown }) => void = () => {},
    ): Promise<AuditWork[]> => {
      const works: AuditWork[] = [];
      // One after the other: many reads at once could exceed the number of files that a process may open.
      for (const key of await store.keys("work")) {
        const work = await unlessDamaged(store.get<AuditWork>(key), (error) =>
          log("An audit cannot be read and is left where it is.", { key, error: String(error) }),
        );
        if (work !== undefined) works.push(work);
      }
      return works;
    },
    bytes: async (token: string) => (await store.get<Bytes>(`bytes/${token}`))?.text,
    putBytes: (token: string, text: string, at: number) =>
      store.put(`bytes/${token}`, { text, at } satisfies Bytes),
    /** Deletes the work, and what judges remembered about it. The verdict stays. */
    forgetBytes,
    /** Deletes everything about an audit. */
    forget: async (token: string): Promise<void> => {
      await forgetBytes(token);
      for (const folder of ["verdict", "decision", "work"]) await store.delete(`${folder}/${token}`);
    },
    /**
     * Stores the signed verdict, unless there is one already, and returns the stored verdict. The first verdict
     * stays, even if the work is judged again.
     */
    fixVerdict: async (token: string, record: SignedRecord): Promise<SignedRecord> => {
      if (await store.putNew(`verdict/${token}`, record)) return record;
      return (await store.get<SignedRecord>(`verdict/${token}`)) ?? record;
    },
    verdict: (token: string) => store.get<SignedRecord>(`verdict/${token}`),
    /** Makes a value once for an audit, and keeps it until the work is deleted. */
    remember: async <T>(token: string, name: string, make: () => Promise<T>): Promise<T> => {
      const key = `opinion/${token}.${name}`;
      const known = await store.get<{ value: T }>(key);
      if (known) return known.value;
      const value = await make();
      await store.put(key, { value });
      return value;
    },
    /** What a person decided; see `personJudge`. */
    decision: (token: string) => store.get<Judgement>(`decision/${token}`),
    decide: (token: string, judgement: Judgement) => store.put(`decision/${token}`, judgement),
  };
}
