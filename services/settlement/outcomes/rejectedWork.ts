import { truncate } from "node:fs/promises";
import path from "node:path";
import { addressSchema } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { COMPLEXITY_UNITS, MAX_OUTCOMES } from "tallystick-protocol/records/outcomes";
import { z } from "zod";
import { AppendFile } from "../ledger/appendFile.ts";
import { ledgerLines } from "../ledger/ledgerLines.ts";
import { addWork, type Tally } from "./tally.ts";

/** Name of the file next to the ledger. */
export const REJECTED_FILE = "rejected.jsonl";

const HOUR = 3_600;

const lineSchema = z.strictObject({
  agent: addressSchema,
  complexity: z.int().min(0).max(COMPLEXITY_UNITS),
  hour: z.int().min(0),
});

type Rejected = z.output<typeof lineSchema>;

/**
 * Proposals that were rejected for their content. They are of the hours that are not reported yet and, after a start,
 * of the last reported hour. They leave no entry in the ledger, so they are kept in a file of their own. The file is
 * written before the agent gets its answer. At a start the file is emptied if all its proposals are older than the last
 * reported hour.
 */
export class RejectedWork {
  readonly #file: AppendFile;
  readonly #hours = new Map<number, Tally>();
  /** The last reported hour, or -1. No new proposal is added to it or to an earlier hour. */
  #told: number;

  private constructor(file: AppendFile, told: number, lines: readonly Rejected[]) {
    this.#file = file;
    this.#told = told;
    for (const line of lines) this.#count(line);
  }

  /**
   * Opens the file in a ledger's folder, which must be locked. An incomplete last line is removed, because its
   * proposal got no answer.
   *
   * @param told the last hour that has a report in the ledger, or -1. The proposals of that hour are kept too: if it is
   * reported again, the record must be the same
   * @throws TallystickError `rejected_corrupt` naming the line when the file is not what was written
   */
  static async open(folder: string, told: number, onFailure: (error: Error) => void): Promise<RejectedWork> {
    const filePath = path.join(folder, REJECTED_FILE);
    const kept: Rejected[] = [];
    const prepare = async (): Promise<void> => {
      let [number, end, isTorn] = [0, 0, false];
      for await (const lines of ledgerLines(filePath)) {
        for (const line of lines) {
          if (!line.terminated) {
            isTorn = true;
            continue;
          }
          const rejected = readLine(line.text, ++number);
          if (rejected.hour >= told) kept.push(rejected);
          end = line.end;
        }
      }
      if (kept.length === 0) end = 0;
      if (isTorn || (end === 0 && number > 0)) await truncate(filePath, end);
    };
    const file = await AppendFile.open({ filePath, prepare, onFailure });
    return new RejectedWork(file, told, kept);
  }

  /**
   * Adds a rejected proposal with its time in unix seconds. Resolves when it is on disk. An agent has at most
   * `MAX_OUTCOMES` rejected proposals in an hour; more are not stored.
   */
  async add({ agent, complexity, time }: Omit<Rejected, "hour"> & { time: number }): Promise<void> {
    const hour = Math.max(Math.floor(time / HOUR), this.#told + 1);
    if ((this.#hours.get(hour)?.get(agent)?.fail ?? 0) >= MAX_OUTCOMES) return;
    await this.#file.append(`${JSON.stringify({ agent, complexity, hour })}\n`);
    this.#count({ agent, complexity, hour });
  }

  /** The hours with something in them, oldest first. */
  get hours(): ReadonlyMap<number, Tally> {
    return new Map([...this.#hours].sort(([a], [b]) => a - b));
  }

  /** Notes that the hours up to this one were reported. Later additions belong to later hours. */
  told(hour: number): void {
    this.#told = Math.max(this.#told, hour);
    for (const known of this.#hours.keys()) if (known <= hour) this.#hours.delete(known);
  }

  /** Waits until everything is on disk and closes the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #count({ agent, complexity, hour }: Rejected): void {
    const tally = this.#hours.get(hour) ?? new Map();
    this.#hours.set(hour, tally);
    addWork(tally, { agent, complexity, isSettled: false });
  }
}

function readLine(text: string, number: number): Rejected {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new TallystickError({
      code: "rejected_corrupt",
      message: `${REJECTED_FILE} line ${number}: it differs from what was written.`,
      hint: "The file of rejected proposals was changed by hand, or damaged. Restore it from a copy, or remove it. If you remove the file, the rejections of the hours in it are not reported.",
      cause,
    });
  }
}
