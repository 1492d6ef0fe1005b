import { ServiceError } from "tallystick-sdk/requestService";
import { findProposed, settle } from "tallystick-sdk/settle";
import { isKeyRefusal } from "../settlementKey.ts";
import type { Outcome } from "./outcome.ts";
import type { Task } from "./task.ts";
import { nameOf, type TaskFile } from "./taskFile.ts";
import { taskMetadata } from "./taskMetadata.ts";
import type { Ended, TaskRun } from "./taskRun.ts";
import type { World } from "./world.ts";

/**
 * Ends a task. A task needs no closing entry if settlement settled its answer, or validated the answer in the mode
 * `sandbox`. For any other task the function proposes a closing entry, so that the ledger shows everything that was
 * spent on the task. If settlement does not settle the closing entry, or refuses it for good, the task ends without it.
 * Settlement's answer to a proposal may be lost. So, unless the task ended with a held proposal, the function first
 * asks settlement whether a proposal of the task was settled or is held.
 *
 * @throws ServiceError when settlement cannot be asked, and SettlementKeyRefused. The dispatcher then tries to close the
 * task again later
 */
export async function closeTask(world: World, task: Task, run: TaskRun, ended: Ended): Promise<Outcome> {
  if ("outcome" in ended) return ended.outcome;
  const { settlement, files } = world;
  const base = run.totals();
  const name = nameOf(run.file);
  let file = await files.change(run.file, (it) => ({
    ...it,
    phase: "closing",
    closing: ended,
    state: run.state,
  }));
  await world.settlementKey.require();
  if (ended.status !== "ESCROWED") {
    const found = await findProposed({ ...settlement, taskId: name }, file.proposedOn);
    if (found?.status === "SETTLED")
      return { ...base, ...found, answer: file.answer ?? null, shadowed: run.state.shadow !== null };
    if (found?.status === "ESCROWED") return await closeTask(world, task, run, { ...found, held: found.id });
  }
  const held = ended.status === "ESCROWED" ? ended.held : null;
  const closing = { status: ended.status, reason: ended.reason.slice(0, 200), held };
  const result = await settle({
    ...settlement,
    taskId: name,
    proposedOn: file.closedOn,
    onProposing: async ({ parentHash }) => {
      file = await files.change(file, (it) => withParent(it, parentHash));
    },
    work: async () => ({
      dataUpdate: {},
      confidenceScore: 1,
      agentMetadata: taskMetadata(world, task, file, run.state, closing),
    }),
    // The ledger may be busy. Another attempt asks no model, so many attempts are fine.
    maxAttempts: 50,
  }).catch((error) => {
    if (!(error instanceof ServiceError) || !error.isRefusal || isKeyRefusal(error)) throw error;
    // The same entry would be refused again, however often it is proposed.
    world.log("Settlement refuses the closing entry of a task.", { task: task.taskId, error });
    return undefined;
  });
  if (result !== undefined && result.status !== "SETTLED")
    world.log("The closing entry of a task was not settled.", { task: task.taskId, status: result.status });
  const entry = result?.status === "SETTLED" ? { closing: result.hash } : {};
  if (ended.status === "ESCROWED") {
    const { status, reason, divergence } = ended;
    return { ...base, status, reason, divergence, held: ended.held, ...entry };
  }
  return { ...base, status: ended.status, reason: ended.reason, ...entry };
}

function withParent(file: TaskFile, parentHash: string): TaskFile {
  return file.closedOn.includes(parentHash) ? file : { ...file, closedOn: [...file.closedOn, parentHash] };
}
