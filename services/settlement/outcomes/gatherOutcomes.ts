import { addressSchema } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { parseEntryLine } from "tallystick-protocol/ledger/entry";
import type { HeldProposals } from "../engine/heldProposals.ts";
import { lookupText } from "../engine/lookupText.ts";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import { addWork, complexityOf, type Tally, type Work } from "./tally.ts";

const HOUR = 3_600;

type PyObject = { [key: string]: PyJson };

/**
 * A line with an outcome contains one of these texts. Other lines are not parsed, because most entries are records
 * without an outcome.
 */
const AGENT = '"agent": "';
const REJECT = '"decision": "reject"';

/** The outcomes in the entries, by hour; `end` is the position of the first later entry. */
export type Gathered = { hours: Map<number, Tally>; end: number };

/**
 * Reads the outcomes of agents' proposals in the entries after a position, up to an hour. These are settled
 * proposals, and held proposals that the operator rejected.
 *
 * @param last the last hour that is read, unix seconds / 3600
 */
export async function gatherOutcomes(
  ledger: DiskLedger,
  held: HeldProposals,
  { from, last }: { from: number; last: number },
): Promise<Gathered> {
  const hours = new Map<number, Tally>();
  const { size } = ledger;
  // Times never go backwards, so the entries of these hours are next to each other.
  const end = await firstAt(ledger, (last + 1) * HOUR);
  if (from >= Math.min(end, size)) return { hours, end };
  for await (const lines of ledger.linesOf(from, end)) {
    for (const { text } of lines) {
      if (!text.includes(AGENT) && !text.includes(REJECT)) continue;
      const { payload, timestamp } = parseEntryLine(text);
      const work = await workOf(payload, held);
      if (work === undefined) continue;
      const hour = Math.floor(Number(timestamp) / HOUR);
      const tally = hours.get(hour) ?? new Map();
      hours.set(hour, tally);
      addWork(tally, work);
    }
  }
  return { hours, end };
}

/** The position of the first entry that is not before a time, in unix seconds; the size when there is none. */
export async function firstAt(ledger: DiskLedger, time: number): Promise<number> {
  let [low, high] = [0, ledger.size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await ledger.envelope(middle)).timestamp < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function workOf(payload: PyObject, held: HeldProposals): Promise<Work | undefined> {
  const { type, body } = payload;
  // An entry that changes nothing is no work. An example is a dispatcher's closing entry for a task that was
  // never settled.
  if (type === "settlement") return isEmpty(payload.data_update) ? undefined : workIn(payload, true);
  if (type !== "review" || !isObject(body) || body.decision !== "reject") return undefined;
  const id = lookupText(body.proposal);
  const divergence = held.get(id)?.divergence;
  const work = workIn(await contentOf(held, id), false);
  return work && { ...work, ...(divergence !== undefined && { divergence }) };
}

function workIn(payload: PyObject, isSettled: boolean): Work | undefined {
  const { data: agent } = addressSchema.safeParse(payload.agent);
  if (agent === undefined) return undefined;
  const complexity = complexityOf(payload.agent_metadata, isSettled);
  const { divergence } = payload;
  const compared = typeof divergence === "bigint" ? Number(divergence) : divergence;
  return { agent, isSettled, complexity, ...(typeof compared === "number" && { divergence: compared }) };
}

/**
 * Returns the payload of a held proposal. The result is an empty object if this disk does not have the proposal, for
 * example after a restore from the ledger alone.
 */
async function contentOf(held: HeldProposals, id: string): Promise<PyObject> {
  try {
    return (await held.content(id)).payload;
  } catch (error) {
    if (error instanceof TallystickError && error.code === "unknown_held") return {};
    throw error;
  }
}

function isEmpty(value: PyJson | undefined): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function isObject(value: PyJson | undefined): value is PyObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
