import {
  type DisclosedHire,
  type DisclosedWork,
  MAX_DISCLOSURE_BYTES,
  readDisclosure,
} from "tallystick-protocol/audits/disclosure";
import { DISCLOSURE_HEADER, signDisclosureRequest } from "tallystick-protocol/audits/disclosureRequest";
import { TallystickError } from "tallystick-protocol/errors";
import { ForeignJsonError, readForeignJson } from "tallystick-protocol/json/foreignJson";
import type { LocalAccount } from "viem";
import { type Assignment, nameOf } from "../audits/assignment.ts";
import { abortable, startDeadline } from "../deadline.ts";
import { AnswerTooLarge } from "../readBytes.ts";
import { readText } from "../readText.ts";
import type { Fetch } from "../requestService.ts";

/** A party that may show the work. */
export type Holder = { who: "seller" | "buyer" | "operator"; origin: string };

/**
 * A holder that did not show the work, and why. `why` is one of our codes, or `status_` and the HTTP status. It never
 * contains the holder's own text.
 */
export type NotShown = Holder & { why: string };

export type AskForWorkParameters = {
  account: LocalAccount;
  fetch: Fetch;
  /** How long one holder may take until the last byte, in milliseconds. */
  timeoutMs: number;
  /** Milliseconds since 1970. */
  now: () => number;
  maxBytes?: number | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Asks the holders for the work of a hire, one after the other. Returns the first work that matches the hashes of the
 * hire's receipt (SHP §8.3.1), and no work if no holder shows such work. A holder that lies, hangs, redirects or
 * never stops sending counts as a holder that did not show the work.
 *
 * @throws only when `signal` is aborted
 */
export async function askForWork(
  assignment: Assignment,
  hire: DisclosedHire,
  holders: readonly Holder[],
  parameters: AskForWorkParameters,
): Promise<{ work?: DisclosedWork & { text: string }; notShown: NotShown[] }> {
  const notShown: NotShown[] = [];
  for (const holder of holders) {
    parameters.signal?.throwIfAborted();
    try {
      const text = await ask(assignment, holder, parameters);
      return { work: { ...readDisclosure(readForeignJson(text), hire), text }, notShown };
    } catch (error) {
      parameters.signal?.throwIfAborted();
      notShown.push({ ...holder, why: whyOf(error) });
    }
  }
  return { notShown };
}

class Refused extends Error {
  readonly why: string;

  constructor(why: string) {
    super(why);
    this.why = why;
  }
}

async function ask(
  assignment: Assignment,
  { origin }: Holder,
  { account, fetch, timeoutMs, now, maxBytes = MAX_DISCLOSURE_BYTES, signal: outer }: AskForWorkParameters,
): Promise<string> {
  const { hire, seller } = assignment;
  const time = Math.floor(now() / 1000);
  const header = await signDisclosureRequest(
    { assignment: nameOf(assignment), hire, seller, time },
    { account },
  );
  const limit = startDeadline(timeoutMs, outer);
  const { signal } = limit;
  try {
    const response = await abortable(
      fetch(`${origin}/audits/${hire}`, {
        headers: { accept: "application/json", [DISCLOSURE_HEADER]: header },
        redirect: "error",
        signal,
      }),
      signal,
    );
    if (response.status !== 200) {
      response.body?.cancel().catch(() => {});
      throw new Refused(`status_${response.status}`);
    }
    return await readText(response, maxBytes, signal);
  } catch (error) {
    if (signal.aborted && !outer?.aborted) throw new Refused("too_late");
    throw error;
  } finally {
    limit.end();
  }
}

function whyOf(error: unknown): string {
  if (error instanceof Refused) return error.why;
  if (error instanceof AnswerTooLarge) return "too_large";
  if (error instanceof ForeignJsonError) return error.code;
  const cause = error instanceof Error && error.cause instanceof TallystickError ? error.cause : error;
  if (!(cause instanceof TallystickError)) return "unreachable";
  const { code, field } = cause;
  return field === undefined ? code : `not_the_hires_${field.replace(/[^a-z_.]/gi, "").slice(0, 40)}`;
}
