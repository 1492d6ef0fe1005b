import { type FacilitatorClient, FacilitatorTimeoutError } from "@x402/core/server";
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from "@x402/core/types";
import type { Address } from "tallystick-protocol/address";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { within } from "tallystick-sdk/deadline";
import { PaymentInvalidError } from "tallystick-sdk/seller/sellerErrors";
import type { PaymentChain } from "./paymentChain.ts";

/**
 * The longest times of the parts of a payment, in milliseconds. Together they are shorter than the time after which the
 * server closes a silent connection.
 */
export const PAYMENT_MS = { verify: 10_000, settle: 25_000, look: 8_000 };

/** How long a payment is remembered, in milliseconds, and the most payments that are remembered. */
const KEPT_MS = 3_600_000;
const MAX_KEPT = 10_000;

/**
 * The most answers for one payment to the same request. More than one, because a connection may close before the client
 * has its answer. Few, because everybody can read a settled payment on the chain.
 */
const MAX_ANSWERS = 5;

/** The reason of a settlement of which nobody knows yet whether it moved the money. */
export const OUTCOME_UNKNOWN = "outcome_unknown";

/** The reason of a payment that was used for another request. */
const PAYMENT_USED = "payment_used";

/**
 * The reasons of a facilitator that refuses a payment before it sends it. "Nonce used" is not among them: the payment
 * itself may have used the nonce.
 */
const NOT_SENT = /insufficient_(funds|balance)$|signature$|valid_(after|before)$/;

/** A request that a client pays for. Requests with the same name are the same request, sent again. */
export type PaidRequest = {
  name: string;
  /** The chain showed that the authorization was not used before. Only then a later look proves a payment. */
  wasUnused: boolean;
  /** Its payment was perhaps settled. */
  isUnknown: boolean;
};

type Authorization = { payer: Address; nonce: Hex; validBefore: number };

type Payment = {
  request: string;
  wasUnused: boolean;
  since: number;
  /** The number of answers that this payment got. */
  answers: number;
  /** How it was settled, as soon as somebody knows. */
  settled?: SettleResponse;
  /** The attempt that is under way. */
  settling?: Promise<SettleResponse>;
};

/**
 * Settles each payment once, and for one request. A facilitator's answer can be lost after it has sent a payment, so an
 * error does not mean that nobody paid. Then the chain decides; and if the chain does not show the payment yet, the same
 * request with the same payment can be sent again.
 */
export class Payments {
  readonly #facilitator: FacilitatorClient;
  readonly #chain: PaymentChain | undefined;
  readonly #now: () => number;
  readonly #limits: typeof PAYMENT_MS;
  /** The payments whose settlement began, the earliest first. The key is the payer and the nonce. */
  readonly #kept = new Map<string, Payment>();

  constructor(
    facilitator: FacilitatorClient,
    chain: PaymentChain | undefined,
    { now = () => performance.now(), limits = PAYMENT_MS } = {},
  ) {
    this.#facilitator = facilitator;
    this.#chain = chain;
    this.#now = now;
    this.#limits = limits;
  }

  /** Verifies a payment. One whose settlement began is only compared: its nonce may be used by itself. */
  async verify(
    request: PaidRequest,
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<VerifyResponse> {
    const authorization = authorizationOf(payload);
    if (authorization === undefined) return { isValid: false, invalidReason: "invalid_payload" };
    const { payer } = authorization;
    const kept = this.#keptFor(authorization);
    if (kept) {
      return mayBeAnswered(kept, request)
        ? { isValid: true, payer }
        : { isValid: false, invalidReason: PAYMENT_USED, payer };
    }
    const ms = this.#limits.verify;
    const [verified, isUsed] = await Promise.all([
      within(this.#facilitator.verify(payload, requirements), ms),
      this.#chain && within(this.#chain.isUsed(authorization), ms).catch(() => undefined),
    ]);
    if (verified === undefined) throw new FacilitatorTimeoutError("verify", ms);
    if (isUsed) return { isValid: false, invalidReason: PAYMENT_USED, payer };
    request.wasUnused = isUsed === false;
    return verified;
  }

  /** Settles a payment. `request.isUnknown` says afterwards whether it is unclear if the payer has paid. */
  async settle(
    request: PaidRequest,
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<SettleResponse> {
    const refused = (errorReason: string): SettleResponse => ({
      ...{ success: false, errorReason, transaction: "" },
      network: requirements.network,
    });
    const authorization = authorizationOf(payload);
    if (authorization === undefined) return refused("invalid_payload");
    const known = this.#keptFor(authorization);
    if (known && !mayBeAnswered(known, request)) return refused(PAYMENT_USED);
    const payment = known ?? this.#keep(authorization, request);
    payment.settling ??= this.#attempt(payment, known === undefined, authorization, payload, requirements)
      .then((answer) => answer ?? refused(OUTCOME_UNKNOWN))
      .finally(() => {
        delete payment.settling;
      });
    const answer = payment.settled ?? (await payment.settling);
    if (!answer.success) request.isUnknown = answer.errorReason === OUTCOME_UNKNOWN;
    // Many requests can wait for one settlement.
    else if (++payment.answers > MAX_ANSWERS) return refused(PAYMENT_USED);
    return answer;
  }

  getSupported(): ReturnType<FacilitatorClient["getSupported"]> {
    return this.#facilitator.getSupported();
  }

  /** Returns undefined if it is unknown whether the payment was, or will be, settled. */
  async #attempt(
    payment: Payment,
    isFirst: boolean,
    authorization: Authorization,
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<SettleResponse | undefined> {
    const look = () => this.#look(payment, authorization, requirements);
    const earlier = isFirst ? undefined : await look();
    if (earlier) return earlier;
    const asked = this.#facilitator.settle(payload, requirements).then((answer) => {
      // This can also come after the time limit. Then it answers the next request with this payment.
      if (answer.success) payment.settled ??= answer;
      return answer;
    });
    const answer = await within(asked, this.#limits.settle).catch(refusalOf);
    if (payment.settled) return payment.settled;
    if (isFirst && answer && isNotSent(answer)) {
      this.#kept.delete(keyOf(authorization));
      return answer;
    }
    return await look();
  }

  /** Asks the chain how a payment ended. Undefined if the chain does not show it. */
  async #look(
    payment: Payment,
    authorization: Authorization,
    { payTo, amount, network }: PaymentRequirements,
  ): Promise<SettleResponse | undefined> {
    if (payment.settled || !payment.wasUnused) return payment.settled;
    const payee = payTo.toLowerCase() as Address;
    try {
      if (this.#chain === undefined) return undefined;
      const find = this.#chain.find({ ...authorization, payee, value: BigInt(amount) });
      const transaction = await within(find, this.#limits.look);
      if (transaction === undefined) return undefined;
      payment.settled ??= { success: true, transaction, network, payer: authorization.payer };
      return payment.settled;
    } catch (error) {
      if (!(error instanceof PaymentInvalidError)) return undefined;
      // It was used for something else, or nobody used it in its time: this payment never comes.
      this.#kept.delete(keyOf(authorization));
      return { success: false, errorReason: error.code, transaction: "", network };
    }
  }

  #keep(authorization: Authorization, { name, wasUnused }: PaidRequest): Payment {
    for (const [key, { since }] of this.#kept) {
      if (this.#kept.size < MAX_KEPT && this.#now() - since < KEPT_MS) break;
      this.#kept.delete(key);
    }
    const payment: Payment = { request: name, wasUnused, since: this.#now(), answers: 0 };
    this.#kept.set(keyOf(authorization), payment);
    return payment;
  }

  #keptFor(authorization: Authorization): Payment | undefined {
    const payment = this.#kept.get(keyOf(authorization));
    return payment && this.#now() - payment.since < KEPT_MS ? payment : undefined;
  }
}

const keyOf = ({ payer, nonce }: Authorization) => `${payer}-${nonce}`;

const mayBeAnswered = (payment: Payment, request: PaidRequest) =>
  payment.request === request.name && payment.answers < MAX_ANSWERS;

/** Whether an answer shows that the facilitator did not send the payment. */
function isNotSent({ success, transaction, errorReason }: SettleResponse): boolean {
  return !success && !isHex(transaction, 32) && NOT_SENT.test(errorReason ?? "");
}

/** The answer in an error of x402, whose client throws what comes with an HTTP status of 400 and above. */
function refusalOf(error: unknown): SettleResponse | undefined {
  if (!(error instanceof Error) || !("errorReason" in error)) return undefined;
  const { errorReason, transaction, network } = error as unknown as SettleResponse;
  return { success: false, errorReason: String(errorReason), transaction, network };
}

/** The EIP-3009 authorization of a payment; undefined if it has another form. */
function authorizationOf({ payload }: PaymentPayload): Authorization | undefined {
  const { authorization } = payload as { authorization?: { [field: string]: unknown } };
  if (authorization === null || typeof authorization !== "object") return undefined;
  const [payer, nonce] = [authorization.from, authorization.nonce].map((it) =>
    typeof it === "string" ? it.toLowerCase() : it,
  );
  if (!isHex(payer, 20) || !isHex(nonce, 32)) return undefined;
  return { payer: payer as Address, nonce, validBefore: Number(authorization.validBefore) || 0 };
}
