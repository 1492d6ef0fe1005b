import { TallystickError } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { pause } from "../pause.ts";
import { AnswerTooLarge, readBytes } from "../readBytes.ts";
import { printable } from "./printable.ts";

/**
 * The largest answer that is read, in bytes. A page of the log ends at four MiB, but a single line may be
 * longer.
 */
const MAX_BYTES = 32 << 20;

/** How long an answer may take to its last byte, in milliseconds. */
const PATIENCE_MS = 60_000;

/** How often a node that is busy or away is asked, and the longest pause that it may ask for, in seconds. */
const ATTEMPTS = 5;
const MAX_WAIT_SECONDS = 60;

/**
 * Sends a GET to a node, and returns its answer. A busy node is asked again at the time that it names.
 *
 * @param path with its query
 * @throws TallystickError with the code of the node's own answer, or `unreachable`, `bad_answer`
 */
export async function askNode(
  url: string,
  path: string,
  signal?: AbortSignal,
): Promise<{ text: string; headers: Headers }> {
  for (let attempt = 1; ; attempt++) {
    const answer = await get(url, path, signal);
    if (answer.text !== undefined && answer.status === 200)
      return { text: answer.text, headers: answer.headers };
    const isBusy = [429, 502, 503, 504].includes(answer.status);
    if (!isBusy || attempt === ATTEMPTS) throw refused(url, path, answer);
    const asked = Number(answer.headers.get("retry-after") ?? 1);
    const seconds = Number.isFinite(asked) ? Math.min(Math.max(asked, 0), MAX_WAIT_SECONDS) : 1;
    await pause(seconds * 1_000, { signal });
  }
}

type Answer = { status: number; headers: Headers; text: string | undefined };

async function get(url: string, path: string, signal?: AbortSignal): Promise<Answer> {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  const both = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    // Nodes say that full pages never change. But a new version may have other digests, and a browser would keep the old
    // ones for a year. So it asks the node, which answers 304 if its copy is right.
    const init: RequestInit = { signal: both, redirect: "error", cache: "no-cache" };
    const response = await fetch(`${url.replace(/\/+$/, "")}${path}`, init);
    const { status, headers } = response;
    return { status, headers, text: asText(await readBytes(response, MAX_BYTES, both)) };
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof AnswerTooLarge) throw badAnswer(url, path, `is longer than ${MAX_BYTES} bytes`);
    const reason = cause instanceof Error ? cause.message : String(cause);
    const deeper = cause instanceof Error && cause.cause instanceof Error ? `: ${cause.cause.message}` : "";
    throw new TallystickError({
      code: "unreachable",
      message: `${url} does not answer ${path}: ${reason}${deeper}`,
      hint: "Check that this is the address of a node that a browser can open. What was read so far is stored: run the command again.",
      cause,
    });
  }
}

/** Undefined if the bytes are not UTF-8. */
function asText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refused(url: string, path: string, { status, text }: Answer): TallystickError {
  if (text === undefined) return badAnswer(url, path, "is no text");
  const said = Object(tryForeignJson(text)) as { [name: string]: unknown };
  const { code, detail } = said;
  return new TallystickError({
    code: typeof code === "string" && /^[a-z_]{1,60}$/.test(code) ? code : "http_error",
    message: `${url} answers ${path} with ${status}${typeof detail === "string" ? `: ${printable(detail, 300)}` : ""}`,
    hint:
      status === 404
        ? "Check the version of the node: older ones have no log."
        : "Run the command again later.",
  });
}

/** The error for an answer that no honest node gives. */
export function badAnswer(url: string, path: string, problem: string): TallystickError {
  return new TallystickError({
    code: "bad_answer",
    message: `The answer of ${url} to ${path} ${problem}.`,
    hint: "The node, or a proxy in between, changes the log. Ask another node.",
  });
}
