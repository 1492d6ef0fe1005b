import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { GENESIS_HASH, sealLine } from "tallystick-protocol/ledger/entry";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { recordPayload } from "tallystick-protocol/records/record";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { verifyLedgerFile } from "../../../scripts/commands/verifyLedger.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { ledgerLines } from "../../../services/settlement/ledger/ledgerLines.ts";
import { verifyLines } from "../../../services/settlement/ledger/verifyLines.ts";
import { type SignedReceipt, signReceipts } from "./signedReceipts.ts";

/** The kinds of entries with which a ledger can be filled. Only `state` needs a key; anybody may write the others. */
export const ENTRY_KINDS = ["receipt", "listing", "stake", "vote", "state"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/**
 * Writes a ledger with entries of one kind. No two entries are equal. Receipts have different hires, listings different
 * agents, and stakes different tasks. Votes are from different agents on one proposal. State entries have different
 * keys. (All records have the signature of one receipt, because opening and verifying check no signatures.)
 */
export async function writeLedger(
  folder: string,
  entries: number,
  kind: EntryKind = "receipt",
): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "ledger.jsonl");
  const [receipt] = await signReceipts(1);
  if (!receipt) throw new Error("no receipt");
  const out = createWriteStream(file);
  let parentHash = GENESIS_HASH;
  for (let i = 0; i < entries; ) {
    const lines: string[] = [];
    for (const end = Math.min(entries, i + 1000); i < end; i++) {
      const id = i.toString(16).padStart(64, "0");
      const payload = payloadOf(kind, i, receipt);
      const unsealed = { timestamp: 1.7e9 + i + 0.25, taskId: `0x${id}`, parentHash, payload };
      const { entry, line } = sealLine(unsealed, sha256ByNode);
      parentHash = entry.currentHash;
      lines.push(line);
    }
    if (!out.write(`${lines.join("\n")}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "close");
  return file;
}

type Payload = { [key: string]: PyJson };

function payloadOf(kind: EntryKind, i: number, { body: receipt, signature }: SignedReceipt): Payload {
  const id = i.toString(16).padStart(64, "0");
  const agent = `0x${i.toString(16).padStart(40, "0")}` as const;
  const record = (type: string, body: RecordBody, signer: `0x${string}` = agent) =>
    recordPayload({ type, body, signer, signature });
  switch (kind) {
    case "receipt":
      return record("receipt", { ...receipt, hire_id: `rcpt_${i}`, tx_hash: `0x${id}` });
    case "listing":
      return record("listing", {
        agent_id: agent,
        capability: "text.translate",
        endpoint: "https://a.example",
      });
    case "stake":
      return record("stake", { type: "stake", ledger: "local", task_id: `task ${i}`, proposal: id });
    case "vote": {
      const type = i === 0 ? "stake" : i % 2 === 0 ? "verify" : "contest";
      return record(type, { type, ledger: "local", task_id: "task", proposal: "0".repeat(64) });
    }
    case "state":
      return { type: "settlement", data_update: { [`key ${id}`]: BigInt(i) }, confidence_score: 0.9 };
  }
}

/**
 * How many entries `tallystick verify-ledger` verifies per second on all cores. It checks the chain of hashes, the form
 * of each line and the Merkle root.
 */
export async function verifyRate(file: string, entries: number): Promise<number> {
  const start = performance.now();
  const result = await verifyLedgerFile(file);
  if (result instanceof LedgerLineError) throw result;
  if (result.size !== entries) throw new Error(`verified ${result.size} entries of ${entries}`);
  return entries / ((performance.now() - start) / 1000);
}

/**
 * How many entries are verified per second on one core, line by line. `verify-ledger` uses this way for a file in which
 * a line is not in the canonical layout.
 */
export async function verifyRateOfOneCore(file: string): Promise<number> {
  const start = performance.now();
  const chain = new LedgerChain({ layout: "any", sha256: sha256ByNode });
  const tree = new MerkleFrontier(sha256ByNode);
  await verifyLines(ledgerLines(file), { chain, tree });
  return tree.size / ((performance.now() - start) / 1000);
}

/** The reference algorithm (swarm.at §5.3) in Python's standard library: the chain of hashes, no Merkle tree. */
const REFERENCE = `
import hashlib, json, sys, time
start = time.perf_counter()
parent, count = "0" * 64, 0
with open(sys.argv[1]) as lines:
    for line in lines:
        entry = json.loads(line)
        found = entry["current_hash"]
        entry["current_hash"] = ""
        if entry["parent_hash"] != parent or hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest() != found:
            sys.exit("bad line")
        parent, count = found, count + 1
print(count / (time.perf_counter() - start))
`;

/** The entries that the reference in Python verifies per second; undefined if python3 is missing or fails. */
export function pythonRate(file: string): number | undefined {
  const { status, stdout, error } = spawnSync("python3", ["-c", REFERENCE, file], { encoding: "utf8" });
  if (error || status !== 0) return undefined;
  return Number(stdout);
}

/**
 * What it costs to open settlement on a ledger. `seconds` and `rssMb`: the time and the highest memory until the
 * service is open. `writesSeconds` and `writesRssMb`: the same until the service has read every line and accepts
 * writes. `proofMs`: the time of one inclusion proof right after the service is open. `cpuSeconds`: the processor time
 * in total.
 */
export type OpenedLedger = {
  seconds: number;
  rssMb: number;
  proofMs: number;
  writesSeconds: number;
  writesRssMb: number;
  cpuSeconds: number;
};

/** Opens the ledger in a process of its own. */
export function openLedger(ledgerDir: string): Promise<OpenedLedger> {
  return runProgram("tools/bench/ledger/openLedger.ts", ledgerDir);
}

/** The cost of one comparison: a second index is made from the ledger, and compared with the first index. */
export type ComparedLedger = { entries: number; rows: number; cpuSeconds: number; rssMb: number };

/** Makes this comparison in a process of its own. The ledger has the name `local`, and must not be open. */
export function compareLedger(folder: string): Promise<ComparedLedger> {
  return runProgram("tools/bench/ledger/compareLedger.ts", folder);
}

async function runProgram<T>(program: string, argument: string): Promise<T> {
  const child = spawn(process.execPath, nodeProgram(program, [argument]), {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await text(child.stdout)) as T;
}
