import { randomUUID } from "node:crypto";
import { MAX_TASK_ID_LENGTH } from "tallystick-protocol/records/taskIdSchema";
import type { Task } from "./task.ts";
import { keyOf, type TaskFile } from "./taskFile.ts";

/**
 * The file of a task that was just accepted.
 *
 * @param about.isNameTaken whether a task of another client has the id for its name in the ledger. The new task then gets
 * a name that nobody can guess, so no client can take the names of another one
 * @param about.acceptedAt Unix milliseconds
 */
export function newTaskFile(about: {
  task: Task;
  owner: string;
  request: string;
  given: unknown;
  acceptedAt: number;
  isNameTaken: boolean;
}): TaskFile {
  const { task, owner, request, given, acceptedAt, isNameTaken } = about;
  const { taskId, deadlineMs } = task;
  const place = { taskId, owner, ...(isNameTaken && { name: freeName(taskId) }) };
  return {
    ...place,
    book: `${keyOf(place)}.${acceptedAt}`,
    request,
    given,
    acceptedAt,
    deadlineAt: acceptedAt + deadlineMs,
    phase: "running",
    calls: {},
    draws: {},
    proposedOn: [],
    closedOn: [],
  };
}

function freeName(taskId: string): string {
  const end = `.${randomUUID()}`;
  // A cut must not leave half of a character.
  return taskId.slice(0, MAX_TASK_ID_LENGTH - end.length).replace(/[\ud800-\udbff]$/, "") + end;
}
