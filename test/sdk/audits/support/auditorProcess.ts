// An auditor's process that kills itself at one of its requests. Start it with `node auditorProcess.ts`. AUDITOR_TASK
// has its task.
import { createAuditor } from "tallystick-sdk/auditor/createAuditor";
import type { Assignment } from "tallystick-sdk/audits/assignment";
import type { Fetch } from "tallystick-sdk/requestService";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { privateKeyToAccount } from "viem/accounts";

/**
 * The task of one process. `killAt` has the beginning of a request's path, and says whether the process is killed
 * before the request or after its answer.
 */
export type AuditorTask = {
  privateKey: `0x${string}`;
  folder: string;
  baseUrl: string;
  /** The origin at which the seller shows the work. */
  origin: string;
  assignment: Assignment;
  /** Milliseconds since 1970. */
  now: number;
  /** The detail in its judgement. Each process judges again, with another detail. */
  detail: string;
  killAt: { path: string; when: "before" | "after" } | null;
};

const task = JSON.parse(process.env.AUDITOR_TASK ?? "") as AuditorTask;
const { assignment, killAt } = task;

const fetch: Fetch = async (input, init) => {
  const isIt = killAt !== null && new URL(input).pathname.startsWith(killAt.path);
  if (isIt && killAt.when === "before") process.kill(process.pid, "SIGKILL");
  const answer = await globalThis.fetch(input, init);
  if (isIt && killAt.when === "after") process.kill(process.pid, "SIGKILL");
  return answer;
};

const auditor = createAuditor({
  account: privateKeyToAccount(task.privateKey),
  baseUrl: task.baseUrl,
  client: { getBlock: () => Promise.reject(new Error("there is no chain here")) },
  store: fileStore(task.folder),
  judge: async () => ({ verdict: "fail", reasons: [{ code: "fabricated", detail: task.detail }] }),
  node: {
    openOfAuditor: async () => [assignment],
    openOfSeller: async () => [],
    openOfHire: async () => [assignment],
    isFinal: async () => true,
    originsOf: async () => [task.origin],
  },
  ledger: "local",
  devMode: true,
  fetch,
  now: () => task.now,
});
await auditor.round();
await auditor.close();
