import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { DeriveEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { defineParams } from "tallystick-protocol/records/params";
import { createFastSigner, type SigningAgent } from "../index/fastSigner.ts";
import { createWorld, receiptOf, type WorldHire, type WorldSize } from "../index/world.ts";

const TOKEN: Address = `0x${"70".repeat(20)}`;
const LEDGER: Hex = `0x${"1e".repeat(32)}`;
const BLOCKS_A_SEGMENT = 5;
const BLOCKS_A_TICK = 150;

/** Writes the log of a generated chain to a file, as a node exports it. It needs neither a chain nor a node. */
export async function writeLog(size: WorldSize, file: string): Promise<void> {
  const signer = await createFastSigner();
  const lines = function* () {
    for (const event of events(size, signer)) yield `${JSON.stringify(event)}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(file));
}

function* events(
  size: WorldSize,
  signer: Awaited<ReturnType<typeof createFastSigner>>,
): Generator<DeriveEvent> {
  const world = createWorld(size, signer);
  let [seq, transfers] = [0, 0];
  const record = (place: Place, type: string, agent: SigningAgent, body: RecordBody): DeriveEvent => {
    const entry = { ledger: LEDGER, seq, hash: hash(`record ${seq}`), type, body };
    seq++;
    return { ...place, kind: "record", ...entry, signer: agent.address, signature: signer.sign(agent, body) };
  };
  const params = { params: defineParams(), token: { address: TOKEN, firstBlock: 0 } };
  yield { block: 0, time: world.time(0), log: 0, kind: "params", ...params };
  const listed = { block: 1, time: world.time(1), log: 0 };
  for (const [n, agent] of world.agents.entries())
    yield record(listed, "listing", agent, world.listing(n, agent));

  let waiting: { hire: WorldHire; tx: Hex }[] = [];
  for (const { number: block, time, ...content } of world.blocks(2)) {
    const hires = [...content.hires];
    let log = 0;
    for (const { from, to, value, authorized } of content.transfers) {
      const tx: Hex = `0x${hash(`transaction ${transfers++}`)}`;
      log += authorized ? 2 : 1;
      const sent = { token: TOKEN, from, to, value: String(value), tx, authorized };
      yield { block, time, log, kind: "transfer", ...sent };
      const [hire] = hires;
      if (hire?.buyer !== from || hire.seller.address !== to || hire.value !== value) continue;
      hires.shift();
      waiting.push({ hire, tx });
    }
    if (block % BLOCKS_A_SEGMENT === 0) {
      log++;
      for (const { hire, tx } of waiting) {
        yield record({ block, time, log }, "receipt", hire.seller, receiptOf(hire, tx, time));
      }
      waiting = [];
    }
    if (block % BLOCKS_A_TICK === 0) yield { block, time, kind: "tick" };
  }
}

type Place = { block: number; time: number; log: number };

function hash(name: string): string {
  return bytesToHex(sha256(utf8ToBytes(name)));
}
