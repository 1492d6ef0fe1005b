import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseVerifierKeys } from "tallystick-protocol/note/verifierKeys";
import { type RunningWitness, runWitness } from "../../../services/witness/runWitness.ts";
import { createClient } from "./client.ts";
import { startSettlement } from "./settlementServer.ts";
import { signReceipts } from "./signedReceipts.ts";

/** Milliseconds from the answer SETTLED to a checkpoint that covers the entry, for one kind of checkpoint. */
export type CoveredAfter = { p50: number; p99: number; count: number };

/** How often the newest checkpoints are looked at, in milliseconds. */
const LOOK_MS = 10;

const NAMES = ["w1", "w2", "w3"];

/**
 * Measures the time from an entry's answer until the newest checkpoint covers the entry, and until the newest
 * checkpoint with the cosignatures of two of three witnesses covers it. The witnesses run in this process, on ports
 * of their own, and share the cores.
 */
export async function coveredAfter(
  duration: number,
): Promise<{ signed: CoveredAfter; witnessed: CoveredAfter }> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-bench-"));
  const witnesses: RunningWitness[] = [];
  const first = await startSettlement(path.join(folder, "ledger"));
  const vkey = await (await fetch(`http://127.0.0.1:${first.port}/v1/ledger/key`)).text();
  await first.kill();
  try {
    for (const name of NAMES) {
      witnesses.push(
        await runWitness({
          config: {
            name: `witness.bench/${name}`,
            host: "127.0.0.1",
            port: 0,
            folder: path.join(folder, name),
            logs: parseVerifierKeys(vkey),
            requestsPerAddress: 0,
            trustedProxies: 0,
          },
          now: () => Date.now() / 1000,
          onFault: (error) => {
            throw error;
          },
        }),
      );
    }
    const policy = path.join(folder, "policy");
    const lines = witnesses.map(({ verifierKey, url }, at) => `witness ${NAMES[at]} ${verifierKey} ${url}`);
    writeFileSync(policy, `${lines.join("\n")}\ngroup two 2 ${NAMES.join(" ")}\nquorum two\n`);
    const server = await startSettlement(path.join(folder, "ledger"), { WITNESS_POLICY: policy });
    try {
      return await measure(server.port, server.size, duration);
    } finally {
      await server.kill();
    }
  } finally {
    for (const witness of witnesses) await witness.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(port: number, begin: number, duration: number) {
  const settledAt: number[] = [];
  const end = performance.now() + 1000 * duration;
  const receipts = (await signReceipts(20 * duration)).map((receipt) => JSON.stringify(receipt));
  const looks = { signed: "", witnessed: "?witnessed=true" };
  const after: { [kind: string]: number[] } = { signed: [], witnessed: [] };
  const covered: { [kind: string]: number } = { signed: begin, witnessed: begin };
  const look = async (kind: "signed" | "witnessed"): Promise<void> => {
    while (performance.now() < end || (covered[kind] as number) < begin + settledAt.length) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/ledger/checkpoint${looks[kind]}`);
      const now = performance.now();
      const size = Number((await answer.text()).split("\n")[1]);
      for (
        let n = covered[kind] as number;
        answer.ok && n < size && settledAt[n - begin] !== undefined;
        n++
      ) {
        after[kind]?.push(now - (settledAt[n - begin] as number));
        covered[kind] = n + 1;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
  const looking = Promise.all([look("signed"), look("witnessed")]);
  const client = createClient(port);
  for (const receipt of receipts) {
    if (performance.now() >= end) break;
    const { status, json } = await client.send("POST", "/v1/receipts", receipt);
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`);
    settledAt.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  client.close();
  await looking;
  return { signed: quantiles(after.signed ?? []), witnessed: quantiles(after.witnessed ?? []) };
}

function quantiles(values: number[]): CoveredAfter {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), count: sorted.length };
}
