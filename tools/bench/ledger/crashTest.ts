import { createReadStream } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { verifyLedgerFile } from "../../../scripts/commands/verifyLedger.ts";
import { createClient } from "./client.ts";
import { type SettlementServer, startSettlement } from "./settlementServer.ts";
import { signReceipts } from "./signedReceipts.ts";

/**
 * The result of killing the process again and again. `losses`: entries that were answered as settled and are
 * not in the file.
 */
export type CrashCounts = { kills: number; answers: number; entries: number; losses: number };

export type CrashTestParameters = {
  ledgerDir: string;
  kills: number;
  /** A number from 0 to 1 that decides when the next kill comes. It is called twice for each kill. */
  random: () => number;
  /** The most answers of a process before it is killed. Default 400. */
  lifeAnswers?: number;
  /** Whether the test is over. */
  isOver?: () => boolean;
  /** Called after every kill. */
  onKill?: (counts: CrashCounts) => void;
};

/**
 * The longest time between the last counted answer and the kill, in milliseconds. So a kill can come at any step of the
 * process.
 */
const AFTER_MS = 25;
const RECEIPT_CLIENTS = 8;
const SETTLE_CLIENTS = 2;

/**
 * Kills the settlement process at random points under load. After every restart it checks that every entry that
 * was answered as settled is in the file, that the chain verifies, and that the new process has the file's tree.
 *
 * The length of a process's life is a number of answers, not a time. So a busy machine kills at the same points
 * as an idle one.
 *
 * @throws TallystickError `crash_test_failed` when the file and the new process do not agree, or a process ended before
 * it was killed; LedgerLineError
 */
export async function crashTest({
  ledgerDir,
  kills,
  random,
  lifeAnswers = 400,
  isOver = () => false,
  onKill,
}: CrashTestParameters): Promise<CrashCounts> {
  const answered = new Answers();
  const counts: CrashCounts = { kills: 0, answers: 0, entries: 0, losses: 0 };
  let numbered = 0;
  for (;;) {
    const server = await startSettlement(ledgerDir);
    await compare(server, ledgerDir, answered.hashes, counts);
    if (counts.kills === kills || isOver()) {
      await server.kill();
      return counts;
    }
    const receipts = await signReceipts(1_000, numbered);
    numbered += receipts.length;
    const load = [
      ...Array.from({ length: RECEIPT_CLIENTS }, () => sendReceipts(server.port, receipts, answered)),
      ...Array.from({ length: SETTLE_CLIENTS }, (_, who) =>
        propose(server.port, `${counts.kills}-${who}`, answered),
      ),
    ];
    const ended = Promise.all(load).then(() => {
      throw failure(`After kill ${counts.kills} the process ended by itself.`);
    });
    await Promise.race([answered.more(Math.floor(random() * lifeAnswers)), ended]);
    await new Promise((resolve) => setTimeout(resolve, random() * AFTER_MS));
    await server.kill();
    await ended.catch(() => {});
    counts.kills++;
    counts.answers = answered.hashes.size;
    onKill?.(counts);
  }
}

/** The hashes that were answered as settled. */
class Answers {
  readonly hashes = new Set<string>();
  #wanted = 0;
  #reached: (() => void) | undefined;

  add(hash: string): void {
    this.hashes.add(hash);
    if (this.hashes.size >= this.#wanted) this.#reached?.();
  }

  /** Resolves when there are `count` more answers than now. */
  more(count: number): Promise<void> {
    this.#wanted = this.hashes.size + count;
    return new Promise((resolve) => {
      this.#reached = resolve;
      if (count === 0) resolve();
    });
  }
}

function failure(message: string): TallystickError {
  return new TallystickError({ code: "crash_test_failed", message });
}

async function sendReceipts(
  port: number,
  receipts: Awaited<ReturnType<typeof signReceipts>>,
  answered: Answers,
): Promise<void> {
  const client = createClient(port);
  try {
    for (let next = receipts.pop(); next; next = receipts.pop()) {
      const { status, json } = await client.send("POST", "/v1/receipts", JSON.stringify(next));
      if (status === 201) answered.add(json.hash);
    }
  } catch {
    // The process was killed. Requests without an answer were not promised to anybody.
  } finally {
    client.close();
  }
}

async function propose(port: number, task: string, answered: Answers): Promise<void> {
  const client = createClient(port);
  try {
    let parent = (await client.send("GET", "/v1/ledger/latest")).json.hash;
    for (let i = 0; ; i++) {
      const data_update = { task, i, padding: "x".repeat(3_000) };
      const header = { task_id: task, parent_hash: parent };
      const body = JSON.stringify({ header, payload: { data_update, confidence_score: 0.9 } });
      const { json } = await client.send("POST", "/v1/settle", body);
      if (json.status === "SETTLED") answered.add(json.hash);
      parent = json.hash ?? json.head;
    }
  } catch {
    // The process was killed.
  } finally {
    client.close();
  }
}

async function compare(
  server: SettlementServer,
  ledgerDir: string,
  answered: ReadonlySet<string>,
  counts: CrashCounts,
): Promise<void> {
  const file = path.join(ledgerDir, "local", "ledger.jsonl");
  const verified = await verifyLedgerFile(file);
  if (verified instanceof LedgerLineError) throw verified;
  if (verified.otherLayouts.count > 0)
    throw new Error(`line ${verified.otherLayouts.firstLine} is not canonical`);
  const client = createClient(server.port);
  const { json } = await client.send("GET", "/v1/ledger/latest");
  client.close();
  const [actual, expected] = [
    `${json.size} ${json.hash} ${json.root}`,
    `${verified.size} ${verified.head} ${toHex(verified.root)}`,
  ];
  if (actual !== expected) {
    throw failure(`After kill ${counts.kills} the service reports ${actual}, but its file has ${expected}.`);
  }
  let found = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (answered.has(line.slice('{"current_hash": "'.length, '{"current_hash": "'.length + 64))) found++;
  }
  counts.entries = verified.size;
  counts.losses = answered.size - found;
}
