import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type Hex, toBareHex, toHex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { entryLine, GENESIS_HASH, parseEntryLine, sealEntry } from "tallystick-protocol/ledger/entry";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { recordPayload } from "tallystick-protocol/records/record";
import type { BenchChain } from "./benchChain.ts";
import { createFastSigner, type SigningAgent } from "./fastSigner.ts";
import { createWorld, receiptOf, SECONDS_PER_BLOCK, type WorldSize } from "./world.ts";

/** Blocks between two anchors. */
const BLOCKS_A_SEGMENT = 50;
const RECORDS_A_SEGMENT = 10_000;
const BLOCKS_TO_FINALITY = 40;

export type BuiltChain = {
  transfers: number;
  records: number;
  segments: number;
  signed: number;
  ledgerFolder: string;
};

/**
 * Makes the chain of a world on `chain`, with its ledger in `folder`. The transactions of a size are always the same, so the
 * signed records are kept in `folder`, and the next run reads them again.
 */
export async function buildChain(chain: BenchChain, size: WorldSize, folder: string): Promise<BuiltChain> {
  const signer = await createFastSigner();
  const world = createWorld(size, signer);
  const tree = new MerkleTree();
  const name = toBareHex(sha256(utf8ToBytes(JSON.stringify(size)))).slice(0, 16);
  const ledgerFolder = path.join(folder, `ledger-${name}`);
  await mkdir(ledgerFolder, { recursive: true });
  const file = path.join(ledgerFolder, "ledger.jsonl");
  const kept = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const unfinished = `${file}.unfinished`;
  await writeFile(unfinished, "");

  let [head, transfers, segments, signed] = [GENESIS_HASH, 0, 0, 0];
  let waiting: { agent: SigningAgent; type: string; body: RecordBody }[] = world.agents.flatMap((agent, n) =>
    Array.from({ length: size.listings ?? 1 }, (_, which) => {
      return { agent, type: "listing", body: world.listing(n, agent, which) };
    }),
  );

  async function anchorWaiting(): Promise<void> {
    const all = waiting;
    waiting = [];
    for (let n = 0; n < all.length; n += RECORDS_A_SEGMENT) await anchor(all.slice(n, n + RECORDS_A_SEGMENT));
  }

  async function anchor(records: typeof waiting): Promise<void> {
    const from = tree.size;
    const lines: string[] = [];
    for (const { agent, type, body } of records) {
      const known = kept[tree.size];
      let line = known;
      if (known === undefined || !isSame(known, head, body)) {
        const record = { type, body, signer: agent.address, signature: signer.sign(agent, body) };
        const taskId = `task-${tree.size}`;
        const entry = { timestamp: 1_767_225_600, taskId, parentHash: head, payload: recordPayload(record) };
        line = entryLine(sealEntry(entry));
        signed++;
      }
      lines.push(line as string);
      head = hashIn(line as string);
      tree.append(leafHash(utf8ToBytes(line as string)));
    }
    await appendFile(unfinished, lines.map((line) => `${line}\n`).join(""));
    const proof = tree.consistencyProof(from, tree.size).map((hash) => toHex(hash));
    anchors.push(await chain.anchor(chain.ledger, tree.size, toHex(tree.root()), proof));
    segments++;
  }

  const anchors: Hex[] = [];
  let time = 0;
  for (const block of world.blocks(chain.block() + 1)) {
    if (segments === 0 && size.ancestry === undefined) await anchorWaiting();
    const tx = await chain.transfers(block.transfers);
    ({ time } = block);
    await chain.mine(time);
    transfers += block.transfers.length;
    for (const hire of block.hires) {
      waiting.push({ agent: hire.seller, type: "receipt", body: receiptOf(hire, tx, time) });
    }
    if (segments > 0 && block.number % BLOCKS_A_SEGMENT === 0) await anchorWaiting();
  }
  await anchorWaiting();
  // Readers treat the last blocks of a chain as not final, and read them after the history.
  for (let n = 1; n <= BLOCKS_TO_FINALITY; n++) await chain.mine(time + n * SECONDS_PER_BLOCK);
  for (const anchor of anchors) await chain.succeeded(anchor);
  await rename(unfinished, file);
  return { transfers, records: tree.size, segments, signed, ledgerFolder };
}

/** Whether a stored line has this body at this position. Then its signature can be used again. */
function isSame(line: string, parentHash: string, body: RecordBody): boolean {
  if (!line.includes(`"parent_hash": "${parentHash}"`)) return false;
  const { payload } = parseEntryLine(line);
  return JSON.stringify(payload.body, numbers) === JSON.stringify(body, numbers);
}

function numbers(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function hashIn(line: string): string {
  return line.slice(18, 82);
}
