import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentRequirements } from "@x402/core/types";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import type { Market, OpenSeller } from "./market.ts";

type Answer = (input: string, init?: RequestInit) => Response | Promise<Response>;

/** Puts a proxy between a seller and its buyers. `asked` has the requests so far. */
export function between(
  market: Market,
  seller: Pick<OpenSeller, "host">,
  answer: (ask: Answer, input: string, init?: RequestInit) => Response | Promise<Response>,
): { asked: string[] } {
  const honest = market.hosts[seller.host]!;
  const asked: string[] = [];
  market.hosts[seller.host] = {
    request: (input, init) => {
      asked.push(`${init?.method ?? "GET"} ${new URL(input).pathname}`);
      return answer((i, o) => honest.request(i, o), input, init);
    },
  };
  return { asked };
}

/** The same 402 with other terms. */
export async function withTerms(
  response: Response,
  change: (option: PaymentRequirements) => PaymentRequirements,
): Promise<Response> {
  if (response.status !== 402) return response;
  const required = decodePaymentRequiredHeader(response.headers.get("PAYMENT-REQUIRED") ?? "");
  const headers = new Headers(response.headers);
  headers.set(
    "PAYMENT-REQUIRED",
    encodePaymentRequiredHeader({ ...required, accepts: required.accepts.map(change) }),
  );
  return new Response(await response.text(), { status: 402, headers });
}

/** Whether a request carries a payment. */
export function isPaid(init?: RequestInit): boolean {
  const headers = new Headers(init?.headers);
  return headers.has("PAYMENT-SIGNATURE") || headers.has("X-PAYMENT");
}

/** The same answer with another JSON body. */
export async function withBody(
  response: Response,
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  change: (body: any) => unknown,
): Promise<Response> {
  const body = await change(await response.json());
  return Response.json(body, { status: response.status, headers: new Headers(response.headers) });
}

/** The error of a rejected promise. */
// biome-ignore lint/suspicious/noExplicitAny: errors of every class
export async function rejection(work: Promise<unknown>): Promise<any> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("it was not rejected");
}

/**
 * A store whose process can be killed. After the kill no call of the store ends, and `connection` breaks like that of
 * an ended process: callers that wait for an answer get an error.
 */
export function killable(store: KeyValueStore): {
  store: KeyValueStore;
  kill: () => void;
  connection: <Answer>(answer: Answer | Promise<Answer>) => Promise<Answer>;
} {
  let isDead = false;
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => {});
  const unlessDead = <Arguments extends unknown[], Result>(work: (...args: Arguments) => Promise<Result>) => {
    return async (...args: Arguments): Promise<Result> => {
      if (isDead) await new Promise(() => {});
      return await work(...args);
    };
  };
  return {
    store: {
      get: unlessDead(store.get) as KeyValueStore["get"],
      put: unlessDead(store.put),
      putNew: unlessDead(store.putNew),
      delete: unlessDead(store.delete),
      keys: unlessDead(store.keys),
    },
    kill: () => {
      isDead = true;
      gone.reject(new TypeError("fetch failed: the connection was closed"));
    },
    connection: (answer) => Promise.race([answer, gone.promise]),
  };
}
