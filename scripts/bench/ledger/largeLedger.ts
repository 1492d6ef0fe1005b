import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { RecordBody } from "../../../protocol/json/recordBody.ts";
import { GENESIS_HASH, sealLine } from "../../../protocol/ledger/entry.ts";
import { LedgerLineError } from "../../../protocol/ledger/verifyLedger.ts";
import { recordPayload } from "../../../protocol/records/record.ts";
import { sha256ByNode } from "../../../settlement/ledger/sha256ByNode.ts";
import { verifyLedgerFile } from "../../commands/verifyLedger.ts";
import { nodeProgram } from "../../processes/nodeProgram.ts";
import { signReceipts } from "./signedReceipts.ts";

/** Writes a ledger of receipts (the signatures are one receipt's, as opening and verifying do not look at them). */
export async function writeLedger(folder: string, entries: number): Promise<string> {
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
      const body: RecordBody = { ...receipt.body, hire_id: `rcpt_${i}`, tx_hash: `0x${id}` };
      const signer = body.agent_id as `0x${string}`;
      const payload = recordPayload({ type: "receipt", body, signer, signature: receipt.signature });
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

/** Entries a second that `tallystick verify-ledger` verifies: chain, form and Merkle root. */
export async function verifyRate(file: string, entries: number): Promise<number> {
  const start = performance.now();
  const result = await verifyLedgerFile(file);
  if (result instanceof LedgerLineError) throw result;
  if (result.size !== entries) throw new Error(`verified ${result.size} entries of ${entries}`);
  return entries / ((performance.now() - start) / 1000);
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

/** Entries a second by the reference in Python, undefined where there is no python3. */
export function pythonRate(file: string): number | undefined {
  const { status, stdout, error } = spawnSync("python3", ["-c", REFERENCE, file], { encoding: "utf8" });
  if (error || status !== 0) return undefined;
  return Number(stdout);
}

/** What a service on the ledger takes: time and memory to open it, and a proof's time then. */
export type OpenedLedger = { seconds: number; rssMb: number; proofMs: number };

/** Opens the ledger in a process of its own. */
export async function openLedger(ledgerDir: string): Promise<OpenedLedger> {
  const child = spawn(process.execPath, nodeProgram("scripts/bench/ledger/openLedger.ts", [ledgerDir]), {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await text(child.stdout)) as OpenedLedger;
}
