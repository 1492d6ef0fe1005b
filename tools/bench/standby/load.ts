import { type Client, createClient } from "../ledger/client.ts";
import { signReceipts } from "../ledger/signedReceipts.ts";
import type { History } from "./history.ts";
import type { Machine } from "./machine.ts";

/** How long a client waits for an answer before it asks another machine, in milliseconds. */
const PATIENCE_MS = 3_000;

/** How long a client waits after a refusal, in milliseconds. */
const AFTER_REFUSAL_MS = 25;

/**
 * How many receipts are signed at once. The number is small, because the proxies of the machines share this process.
 */
const SIGNED_TOGETHER = 25;

/** Clients that settle receipts at any machine that accepts them, and repeat each until it is answered. */
export type Load = { stop: () => Promise<void> };

/** Starts clients; one of them reads checkpoints in between. */
export function startLoad(machines: readonly Machine[], history: History, clients: number, from = 0): Load {
  let isOver = false;
  let next = from;
  let signed: Promise<unknown[]> = Promise.resolve([]);
  const receipt = async (): Promise<unknown> => {
    const some = await signed;
    const one = some.pop();
    if (one !== undefined) return one;
    if (some === (await signed)) {
      signed = signReceipts(SIGNED_TOGETHER, next);
      next += SIGNED_TOGETHER;
    }
    return receipt();
  };
  const work = async (number: number): Promise<void> => {
    let turn = number;
    let asked: { port: number; client: Client } | undefined;
    const ask = async (method: string, path: string, body?: string) => {
      // A stopped machine still counts as the writer, so a client without an answer asks the next machine.
      const writers = machines.filter((it) => it.isWriter);
      const asking = writers.length > 0 ? writers : machines;
      const port = asking[turn % asking.length]?.port ?? 0;
      if (asked?.port !== port) {
        asked?.client.close();
        asked = { port, client: createClient(port) };
      }
      try {
        return await inTime(asked.client.send(method, path, body));
      } catch {
        asked.client.close();
        asked = undefined;
        turn++;
        return undefined;
      }
    };
    while (!isOver) {
      const body = JSON.stringify(await receipt());
      for (;;) {
        const answer = await ask("POST", "/v1/receipts", body);
        if (answer?.json.status === "SETTLED") {
          history.answered(answer.json.hash, answer.json.index);
          break;
        }
        if (isOver) break;
        turn++;
        await new Promise((resolve) => setTimeout(resolve, AFTER_REFUSAL_MS));
      }
      if (number !== 0) continue;
      const checkpoint = await readCheckpoint(asked?.port);
      if (checkpoint !== undefined) history.signed(checkpoint);
    }
    asked?.client.close();
  };
  const working = Promise.all(Array.from({ length: clients }, (_, number) => work(number)));
  return {
    stop: async () => {
      isOver = true;
      await working;
    },
  };
}

/** The checkpoint that a machine serves; undefined if it serves none now. */
export async function readCheckpoint(port: number | undefined): Promise<string | undefined> {
  if (port === undefined) return undefined;
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/ledger/checkpoint`, { signal });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), PATIENCE_MS);
  });
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
