import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { isSignedBy } from "tallystick-protocol/records/record";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { type RecoverPublicKey, recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";
import { createClient } from "./client.ts";
import { type SettlementServer, startSettlement } from "./settlementServer.ts";
import { type SignedReceipt, signReceipts } from "./signedReceipts.ts";

/** A monotonic clock, in seconds. */
const seconds = (): number => performance.now() / 1000;

/**
 * Signature checks per second on one core, with each implementation; and the processor time of one check by
 * WASM.
 */
export async function signatureLimits(): Promise<{ noble: number; wasm: number; wasmMicros: number }> {
  const receipts = await signReceipts(400);
  const measure = (recover: RecoverPublicKey, count: number): number => {
    const start = seconds();
    for (let i = 0; i < count; i++) {
      const { body, signature } = receipts[i % receipts.length] as SignedReceipt;
      if (!isSignedBy(body, signature, body.agent_id as `0x${string}`, recover))
        throw new Error("not signed");
    }
    return count / (seconds() - start);
  };
  const wasm = await recoverByWasm();
  measure(recoverByNoble, 50);
  measure(wasm, 400);
  const own = process.cpuUsage();
  const [count, rate] = [4_000, measure(wasm, 4_000)];
  const { user, system } = process.cpuUsage(own);
  return { noble: measure(recoverByNoble, 400), wasm: rate, wasmMicros: (user + system) / count };
}

/** Runs work against a new settlement process. */
async function withServer<T>(run: (server: SettlementServer) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-bench-"));
  const server = await startSettlement(folder);
  try {
    return await run(server);
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Durable receipts per second, and the processor time of one in microseconds: in the service (all threads;
 * NaN if the system does not report it) and in the clients.
 */
export type ReceiptRate = { clients: number; rate: number; serviceMicros: number; clientMicros: number };

/** Durable signed receipts a second with this many clients, each waiting for its answer before it sends the next. */
export function receiptRates(clients: number[], each: number): Promise<ReceiptRate[]> {
  return withServer(async ({ port, child }) => {
    const warm = await signReceipts(300, 10_000_000);
    await sendAll(port, 16, warm);
    const rates: ReceiptRate[] = [];
    let from = 0;
    for (const count of clients) {
      const receipts = await signReceipts(each, from);
      from += each;
      const [start, own, service] = [seconds(), process.cpuUsage(), cpuMicrosOf(child.pid)];
      await sendAll(port, count, receipts);
      const rate = each / (seconds() - start);
      const { user, system } = process.cpuUsage(own);
      const serviceMicros = (cpuMicrosOf(child.pid) - service) / each;
      rates.push({ clients: count, rate, serviceMicros, clientMicros: (user + system) / each });
    }
    return rates;
  });
}

/** Microseconds of a tick of Linux's clock. */
const TICK_MICROS = 10_000;

/**
 * The processor time that a process has taken so far, in microseconds; NaN if the system does not report it.
 */
function cpuMicrosOf(pid: number | undefined): number {
  try {
    // The name in brackets may contain anything. In the fields after it, user and system time are the 12th
    // and 13th.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
  } catch {
    return Number.NaN;
  }
}

/** Sends signed receipts by this many clients, each of which waits for its answer. Throws when one is not settled. */
export async function sendAll(port: number, clients: number, receipts: SignedReceipt[]): Promise<void> {
  const texts = receipts.map((receipt) => JSON.stringify(receipt));
  let next = 0;
  const work = async (): Promise<void> => {
    const client = createClient(port);
    for (let text = texts[next++]; text !== undefined; text = texts[next++]) {
      const { status, json } = await client.send("POST", "/v1/receipts", text);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: clients }, work));
}

/** The outcomes of proposals during a period. `least` is the smallest number that one client settled. */
export type SettleRates = { clients: number; settled: number; rejected: number; least: number };

/** Proposals a second. After each rejection a client proposes again, on the ledger's present head. */
export function settleRates(clients: number, duration: number): Promise<SettleRates> {
  return withServer(async ({ port }) => {
    const counts = { settled: 0, rejected: 0 };
    const perClient = new Array<number>(clients).fill(0);
    const end = seconds() + duration;
    const start = seconds();
    const work = async (_: unknown, who: number): Promise<void> => {
      const client = createClient(port);
      let parent = (await client.send("GET", "/v1/ledger/latest")).json.hash;
      for (let i = 0; seconds() < end; ) {
        const proposal = {
          header: { task_id: `task-${who}-${i}`, parent_hash: parent, agent_metadata: { model: "bench" } },
          payload: { data_update: { [`result-${who}`]: i }, confidence_score: 0.95 },
        };
        const { json } = await client.send("POST", "/v1/settle", JSON.stringify(proposal));
        if (json.status === "SETTLED") {
          i++;
          counts.settled++;
          perClient[who] = (perClient[who] ?? 0) + 1;
          parent = json.hash;
        } else {
          counts.rejected++;
          parent = json.head;
        }
      }
      client.close();
    };
    await Promise.all(Array.from({ length: clients }, work));
    const took = seconds() - start;
    return {
      clients,
      settled: counts.settled / took,
      rejected: counts.rejected / took,
      least: Math.min(...perClient),
    };
  });
}
