import { readConfig } from "../../../services/settlement/config.ts";
import { openService, type SettlementService } from "../../../services/settlement/service.ts";

/** The default time of all tests of the service, in unix seconds. */
export const NOW = 1_767_225_600;

export const API_KEY = "test-key";

export type TestService = SettlementService & {
  /** The service's clock, in unix seconds. */
  clock: { now: number };
  /** Its log. */
  logged: string[];
  /** Sends JSON, or a text as it is, and gives back status, headers and parsed body. */
  post: (path: string, body: unknown, headers?: { [name: string]: string }) => Promise<TestAnswer>;
  get: (path: string) => Promise<TestAnswer>;
};

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type TestAnswer = { status: number; type: string; text: string; json: any };

/** A service on a folder, without a port and without a chain. */
export async function openTestService(
  folder: string,
  environment: { [name: string]: string } = {},
): Promise<TestService> {
  const config = readConfig({ LEDGER_DIR: folder, SETTLEMENT_API_KEYS: `other, ${API_KEY}`, ...environment });
  const clock = { now: NOW };
  const logged: string[] = [];
  const service = await openService({
    config,
    now: () => clock.now,
    log: (sentence) => logged.push(sentence),
    onFailure: (error) => logged.push(error.message),
  });
  const answer = async (response: Response | Promise<Response>): Promise<TestAnswer> => {
    const { status, headers } = await response;
    const text = await (await response).text();
    const type = headers.get("content-type") ?? "";
    return {
      status,
      type,
      text,
      json: type.includes("json") && !type.includes("jsonl") ? JSON.parse(text) : undefined,
    };
  };
  return {
    ...service,
    clock,
    logged,
    get: (path) => answer(service.app.request(path)),
    post: (path, body, headers = {}) =>
      answer(
        service.app.request(path, {
          method: "POST",
          body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
          headers: { "content-type": "application/json", ...headers },
        } as RequestInit),
      ),
  };
}
