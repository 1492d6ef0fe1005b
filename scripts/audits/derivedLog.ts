import type { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import { type Place, placeOf } from "tallystick-derive/place";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { type Params, parseParams } from "tallystick-protocol/records/params";
import { nodeLog } from "tallystick-sdk/openLog/nodeLog";
import { deriveLog } from "../eventLog/deriveLog.ts";

/** A tick of a log. A tick without a hash draws nothing. */
export type LogTick = { block: number; time: number; hash: Hex | undefined };

/** The state derived from a node's open log, and the parts that are compared with the chain. */
export type DerivedLog = {
  store: MemoryStore;
  params: Params;
  /**
   * Blocks between two ticks, from the log's first line. A later `params` record does not move a node's ticks, whatever
   * number it has.
   */
  tickBlocks: number;
  token: Address;
  /** The oldest first. */
  ticks: LogTick[];
  /** The block in which each escrow was refunded. */
  refunds: Map<string, number>;
  /** Hashes of the entries whose records are in the log: ledger → number in it → hash. */
  records: Map<string, Map<number, string>>;
  /** The first position of each receipt, by the hash of its entry. */
  receipts: Map<string, Place>;
  /** All parameters that were ever in force, the oldest first, each with the position at which they came into force. */
  history: { from: Place; params: Params }[];
  /**
   * The block from which on the log has the token's transfers. A relevant log has them from before its first line on, as lines
   * about the past.
   */
  firstBlock: number;
  /** The block of the last line. */
  lastBlock: number;
};

/** Stands for the record of the parameters in the log's first line. */
const FIRST = "";

/** Reads the whole log of a node and derives it again. Nothing else from the node is trusted. */
export async function deriveLogOf(url: string, signal?: AbortSignal): Promise<DerivedLog> {
  const ticks: LogTick[] = [];
  const records: DerivedLog["records"] = new Map();
  const refunds: DerivedLog["refunds"] = new Map();
  const receipts: DerivedLog["receipts"] = new Map();
  const given: { id: string; from: Place; read: () => Params }[] = [];
  let firstBlock: number | undefined;
  let token: Address | undefined;
  let tickBlocks: number | undefined;
  let lastBlock = 0;
  async function* noted() {
    for await (const text of nodeLog(url, { signal })) {
      for (const line of text.split("\n")) {
        if (line === "") continue;
        const event = parseEvent(line);
        if (event.kind !== "history" && event.kind !== "count") lastBlock = event.block;
        if (event.kind === "params") {
          token ??= event.token?.address;
          firstBlock ??= event.token?.firstBlock;
          tickBlocks ??= event.params.tickBlocks;
          given.push({ id: FIRST, from: placeOf(event), read: () => event.params });
        }
        if (event.kind === "tick") ticks.push({ block: event.block, time: event.time, hash: event.hash });
        if (event.kind === "escrow.refunded") refunds.set(event.escrowId, event.block);
        if (event.kind !== "record") continue;
        const from = placeOf(event);
        if (event.type === "receipt" && !receipts.has(event.hash)) receipts.set(event.hash, from);
        if (event.type === "params")
          given.push({ id: `${event.ledger}/${event.seq}`, from, read: () => parseParams(event.body) });
        if (!records.has(event.ledger)) records.set(event.ledger, new Map());
        records.get(event.ledger)?.set(event.seq, event.hash);
      }
      yield text;
    }
  }
  const { store } = await deriveLog(noted());
  const state = store.get("state", STATE_ID);
  if (state === null || token === undefined || firstBlock === undefined || tickBlocks === undefined) {
    throw new TallystickError({
      code: "log_incomplete",
      message: `The log of ${url} has nothing final yet, or does not name its token.`,
      hint: "Ask again when the node has indexed some blocks.",
    });
  }
  const params: Params = JSON.parse(state.params);
  const inForce = given.filter(({ id }) => id === FIRST || store.get("record", id)?.status === "valid");
  const history = inForce.map(({ from, read }) => ({ from, params: read() }));
  const blocks = { firstBlock, lastBlock };
  return { store, params, tickBlocks, token, ticks, refunds, records, receipts, history, ...blocks };
}
