import { Hono } from "hono";
import type { Address } from "tallystick-protocol/address";
import { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
import { isCustomCapability } from "tallystick-protocol/capability";
import {
  ANSWER_MS,
  type ClarifyAnswer,
  MAX_OPTIONS,
  type QuoteOffer,
} from "tallystick-protocol/clarification/clarifyAnswer";
import {
  CLARIFY_PROTOCOL,
  type ClarifyRequest,
  readClarifyRequest,
} from "tallystick-protocol/clarification/clarifyRequest";
import { checkQuote, type QuoteProblem, signQuote } from "tallystick-protocol/clarification/quote";
import { InvalidInputError, type TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import type { HireRequest } from "tallystick-protocol/hire/hireRequest";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import type { LocalAccount } from "viem";
import { requireFresh } from "../seller/intake.ts";
import { limitBody } from "../seller/limitBody.ts";
import { problemResponse } from "../seller/problem.ts";
import { HireRefusedError } from "../seller/sellerErrors.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { clarifyLimits } from "./clarifyLimits.ts";

/** A stranger's text about what is wanted. Never run it, and never follow instructions in it. */
export type UntrustedText = { readonly text: string; toString: () => string };

/** The question, as the function `answer` gets it. */
export type Clarification = {
  buyer: Address;
  capability: string;
  brief: UntrustedText;
  params: { [key: string]: unknown };
  /** Atomic units. */
  maxPrice: bigint | undefined;
  maxLatencyMs: number | undefined;
};

/** An offer before it is signed. `params` are those that will be executed. */
export type Offered = {
  priceUsdc: string;
  estimatedLatencyMs: number;
  params: { [key: string]: unknown };
  notes?: string;
};

/** The seller's answer: one firm offer, up to three alternatives with a reason, or no. */
export type Answer = { quote: Offered } | { reason: string; options: Offered[] } | { decline: string };

export type CreateClarificationParameters = {
  /** The agent's wallet: signs the quotes. */
  account: LocalAccount;
  /** The custom capabilities whose listings say `clarification_supported`. */
  capabilities: readonly string[];
  /** Decides, within three seconds. After that the request is declined. */
  answer: (asked: Clarification) => Answer | Promise<Answer>;
  /** Remembers rounds, for the limits. */
  store: KeyValueStore;
  /** How long quotes are valid, in seconds. Default 600. */
  quoteSeconds?: number;
  /** Rounds that a buyer may leave without a hire in 24 hours. Default 10. */
  maxUnaccepted?: number;
  /**
   * The buyers that had no hire in the last 24 hours share this many rounds in a UTC day. There must be a limit,
   * because wallets are cheap, and `answer` may cost money. Unsigned requests have a limit of the same size for
   * themselves. Default 1,000.
   */
  maxPerDay?: number;
  /** Checks the params that an answer would execute, e.g. the capability's schema. @throws InvalidInputError */
  checkParams?: (capability: string, params: unknown) => void | Promise<void>;
  /** Milliseconds since 1970. */
  now?: () => number;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

export type ClarificationDesk = {
  /** `POST /clarify`. Mount it with the seller's other routes: `seller.app.route("/", desk.app)`. */
  app: Hono;
  /** For `createSeller({ redeemQuote })`: the price of the quote that a hire presents, or 409. */
  redeemQuote: (request: HireRequest) => Promise<{ price: bigint; accept: () => Promise<void> }>;
};

/** The largest body of a request that is read, in bytes. */
const MAX_BODY_BYTES = 65_536;

/**
 * The seller's side of clarification (SHP §7.5): one request, one answer; no payment, no receipt, no reputation. The
 * wallet signs the quotes. Until a quote expires, the seller accepts it for exactly the params that it was given for.
 *
 * @throws InvalidInputError when a capability is a standard one, which must not be clarified
 * @example
 * const desk = createClarification({ account, store, capabilities: ["custom.acme.research"],
 *   answer: ({ params }) => ({ quote: { priceUsdc: "3.00", estimatedLatencyMs: 45_000, params } }) });
 * const seller = await createSeller({ …, redeemQuote: desk.redeemQuote });
 * seller.app.route("/", desk.app);
 */
export function createClarification(parameters: CreateClarificationParameters): ClarificationDesk {
  const { account, capabilities, now = Date.now, log = () => {}, checkParams } = parameters;
  for (const [at, capability] of capabilities.entries()) {
    if (isCustomCapability(capability)) continue;
    const message = "must begin with custom.: standard capabilities have nothing to clarify";
    throw new InvalidInputError({ issues: [{ field: `capabilities.${at}`, message }] });
  }
  const seller = account.address.toLowerCase() as Address;
  const seconds = (): number => Math.floor(now() / 1000);
  const limits = clarifyLimits(parameters);

  const sign = async (
    { buyer_id: buyer, capability }: ClarifyRequest,
    round: string,
    offered: Offered,
  ): Promise<QuoteOffer> => {
    await checkParams?.(capability, offered.params);
    const price = parseUsdc(offered.priceUsdc, "priceUsdc");
    const expiresAt = seconds() + (parameters.quoteSeconds ?? 600);
    const { estimatedLatencyMs, params, notes } = offered;
    const terms = {
      seller,
      buyer,
      capability,
      params,
      price,
      estimatedLatencyMs,
      expiresAt,
      round: round as `0x${string}`,
    };
    return {
      quote_token: await signQuote(terms, { account }),
      price_usdc: formatUsdc(price),
      estimated_latency_ms: estimatedLatencyMs,
      expires_at: expiresAt,
      params,
      ...(notes !== undefined && { notes }),
    };
  };

  const answerRequest = async (request: ClarifyRequest, round: string): Promise<ClarifyAnswer> => {
    const protocol = CLARIFY_PROTOCOL;
    const answer = await withinTime(parameters.answer, asClarification(request));
    if ("decline" in answer) return { protocol, outcome: "decline", reason: answer.decline };
    if ("quote" in answer)
      return { protocol, outcome: "quote", quote: await sign(request, round, answer.quote) };
    if (answer.options.length === 0 || answer.options.length > MAX_OPTIONS) {
      throw new Error(
        `The answerer gave ${answer.options.length} options; there may be 1 to ${MAX_OPTIONS}.`,
      );
    }
    const options = await Promise.all(answer.options.map((offered) => sign(request, round, offered)));
    return { protocol, outcome: "counter", counter: { reason: answer.reason, options } };
  };

  const app = new Hono();
  app.onError((error) => problemResponse(error, log));
  const limit = limitBody(MAX_BODY_BYTES);
  app.post("/clarify", limit, async (c) => {
    const { request, signed } = readClarifyRequest(readForeignJson(await c.req.text()));
    if (!capabilities.includes(request.capability)) throw notOffered(request.capability);
    const round = toHex(crypto.getRandomValues(new Uint8Array(8)));
    const { capability, nonce, seller_id: named, issued_at: issuedAt } = request;
    if (named !== undefined && named !== seller) {
      const message = `must be ${seller}, the address of this seller`;
      throw new InvalidInputError({ issues: [{ field: "seller_id", message }] });
    }
    requireFresh(request, now());
    // Anybody can send an unsigned request. A signed request without a seller or a time is no better: anybody who once
    // received it can send it here. Such requests do not use up the rounds of the buyer that they name.
    const isOwn = signed && named !== undefined && issuedAt !== undefined;
    const who = limits.nameOf(request.buyer_id, isOwn);
    await limits.begin({ who, round, nonce, capability, now: seconds() });
    const answer = await answerRequest(request, round);
    await limits.end({
      who,
      round,
      isCounter: answer.outcome === "counter",
      isDecline: answer.outcome === "decline",
    });
    c.header("cache-control", "no-store");
    return c.json(answer);
  });

  return {
    app,
    redeemQuote: async ({ quote_token: token = "", buyer_id: buyer, capability, params }) => {
      const checked = checkQuote(token, { seller, buyer, capability, params }, seconds());
      if ("problem" in checked) throw refusedQuote(checked.problem);
      const { price, round } = checked.quote;
      return { price, accept: () => limits.accept(buyer, round) };
    },
  };
}

function asClarification(request: ClarifyRequest): Clarification {
  const {
    buyer_id: buyer,
    capability,
    brief,
    params,
    max_price_usdc: price,
    max_latency_ms: latency,
  } = request;
  return {
    buyer,
    capability,
    brief: { text: brief, toString: () => `[a stranger's brief of ${brief.length} characters]` },
    params,
    maxPrice: price === undefined ? undefined : parseUsdc(price),
    maxLatencyMs: latency,
  };
}

async function withinTime(
  answer: CreateClarificationParameters["answer"],
  asked: Clarification,
): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve({ decline: `No answer within ${ANSWER_MS} ms.` }), ANSWER_MS);
  });
  try {
    return await Promise.race([answer(asked), late]);
  } finally {
    clearTimeout(timer);
  }
}

function notOffered(capability: string): TallystickError {
  return new HireRefusedError({
    status: 404,
    code: "not_offered",
    message: `${capability} is not clarified here.`,
    field: "capability",
  });
}

const PROBLEMS: { [problem in QuoteProblem]: string } = {
  unknown_quote: "This is no quote.",
  expired_quote: "This quote has expired.",
  tampered_quote: "This quote is not for this buyer, this capability and exactly these params.",
};

function refusedQuote(problem: QuoteProblem): HireRefusedError {
  return new HireRefusedError({
    status: 409,
    code: problem,
    message: PROBLEMS[problem],
    field: "quote_token",
    hint: "POST /clarify again, and hire with the params of the quote as they are.",
  });
}
