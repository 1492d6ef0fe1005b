import { type FacilitatorClient, FacilitatorTimeoutError } from "@x402/core/server";
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from "@x402/core/types";
import type { Address } from "tallystick-protocol/address";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { within } from "tallystick-sdk/deadline";
import { PaymentInvalidError } from "tallystick-sdk/seller/sellerErrors";
import type { PaymentChain } from "./paymentChain.ts";
import type { KeptPayment, PaymentStore } from "./paymentStore.ts";

/**
 * The longest times of the parts of a payment, in milliseconds. `store` is the time of one use of the store. Together they
 * are shorter than the time after which the server closes a silent connection.
 */
export const PAYMENT_MS = { verify: 6_000, settle: 25_000, look: 6_000, store: 1_500 };

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
  /** The chain showed that the authorization was not used before. */
  wasUnused: boolean;
  /** Nobody knows whether its payment was settled. */
  isUnknown: boolean;
};

type Authorization = { payer: Address; nonce: Hex; validBefore: number };

/** A payment for a request, with its key in the store. */
type Payment = {
  key: string;
  request: PaidRequest;
  authorization: Authorization;
  payload: PaymentPayload;
  requirements: PaymentRequirements;
};

/**
 * Settles each payment once, and for one request. A facilitator's answer can be lost after it has sent a payment, so an
 * error does not mean that nobody paid. Then the chain decides. If the chain does not show the payment yet, the client
 * can send the same request with the same payment again, to any process that shares the store. A payment is stored
 * before it is settled. So if a process is killed in between, the next process knows of the payment.
 */
export class Payments {
  readonly #facilitator: FacilitatorClient;
  readonly #chain: PaymentChain | undefined;
  readonly #store: PaymentStore;
  readonly #limits: typeof PAYMENT_MS;
  /** The attempts of this process that are under way, by the payment and its request. */
  readonly #running = new Map<string, Promise<SettleResponse>>();

  constructor(
    facilitator: FacilitatorClient,
    chain: PaymentChain | undefined,
    store: PaymentStore,
    limits = PAYMENT_MS,
  ) {
    this.#facilitator = facilitator;
    this.#chain = chain;
    this.#store = store;
    this.#limits = limits;
  }

  /** Verifies a payment. If its settlement began before, it is only compared: it may have used its nonce itself. */
  async verify(
    request: PaidRequest,
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<VerifyResponse> {
    const authorization = authorizationOf(payload);
    if (authorization === undefined) return { isValid: false, invalidReason: "invalid_payload" };
    const { payer } = authorization;
    const compare = async (): Promise<VerifyResponse | undefined> => {
      const kept = await this.#stored(this.#store.read(keyOf(authorization, requirements)));
      request.isUnknown = kept === "failed";
      if (kept === "failed") return { isValid: false, invalidReason: OUTCOME_UNKNOWN, payer };
      if (kept === undefined) return undefined;
      return kept.request === request.name && kept.answers < MAX_ANSWERS
        ? { isValid: true, payer }
        : { isValid: false, invalidReason: PAYMENT_USED, payer };
    };
    const known = await compare();
    if (known) return known;
    const ms = this.#limits.verify;
    const [verified, isUsed] = await Promise.all([
      within(this.#facilitator.verify(payload, requirements), ms),
      this.#chain && within(this.#chain.isUsed(authorization), ms).catch(() => undefined),
    ]);
    if (verified === undefined) throw new FacilitatorTimeoutError("verify", ms);
    if (isUsed || !verified.isValid) {
      // Another process may have settled it meanwhile, for the same request.
      const settled = await compare();
      return settled ?? (isUsed ? { isValid: false, invalidReason: PAYMENT_USED, payer } : verified);
    }
    request.wasUnused = isUsed === false;
    return verified;
  }

  /** Settles a payment. Afterwards `request.isUnknown` is true if nobody knows whether the payer has paid. */
  async settle(
    request: PaidRequest,
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<SettleResponse> {
    const authorization = authorizationOf(payload);
    if (authorization === undefined) return refusal("invalid_payload", requirements);
    const key = keyOf(authorization, requirements);
    const name = `${key} ${request.name}`;
    const payment = { key, request, authorization, payload, requirements };
    const running =
      this.#running.get(name) ??
      this.#attempt(payment)
        .then((answer) => answer ?? refusal(OUTCOME_UNKNOWN, requirements))
        .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    const answer = await running;
    if (!answer.success) request.isUnknown = answer.errorReason === OUTCOME_UNKNOWN;
    // Many requests can wait for one settlement. If the store fails now, the client gets what it paid for.
    else if ((await this.#stored(this.#store.countAnswer(key, MAX_ANSWERS))) === false)
      return refusal(PAYMENT_USED, requirements);
    return answer;
  }

  getSupported(): ReturnType<FacilitatorClient["getSupported"]> {
    return this.#facilitator.getSupported();
  }

  /** Returns undefined if it is unknown whether the payment was, or will be, settled. */
  async #attempt(payment: Payment): Promise<SettleResponse | undefined> {
    const { key, request, payload, requirements } = payment;
    const { name, wasUnused } = request;
    const kept = await this.#stored(this.#store.begin(key, { request: name, wasUnused }));
    if (kept === "failed") return undefined;
    if (kept.request !== name) return refusal(PAYMENT_USED, requirements);
    if (kept.settled) return kept.settled;
    const isFirst = kept.attempts === 1;
    const earlier = isFirst ? undefined : await this.#look(payment, kept);
    if (earlier) return earlier;
    const asked = this.#facilitator.settle(payload, requirements).then(async (answer) => {
      // This can also come after the time limit. Then it answers the next request with this payment.
      if (answer.success) await this.#stored(this.#store.settle(key, kept, answer));
      return answer;
    });
    const answer = await within(asked, this.#limits.settle).catch(refusalOf);
    if (answer?.success) return answer;
    if (isFirst && answer && isNotSent(answer)) {
      await this.#stored(this.#store.forget(key, kept.attempts));
      return answer;
    }
    return await this.#look(payment, kept);
  }

  /** Asks the chain how a payment ended. Undefined if the chain does not show it. */
  async #look(
    { key, authorization, requirements }: Payment,
    kept: KeptPayment,
  ): Promise<SettleResponse | undefined> {
    const { payTo, amount, network } = requirements;
    if (this.#chain === undefined || !kept.wasUnused) return undefined;
    const payee = payTo.toLowerCase() as Address;
    try {
      const find = this.#chain.find({ ...authorization, payee, value: BigInt(amount) });
      const transaction = await within(find, this.#limits.look);
      if (transaction === undefined) return undefined;
      const settled: SettleResponse = { success: true, transaction, network, payer: authorization.payer };
      void this.#stored(this.#store.settle(key, kept, settled));
      return settled;
    } catch (error) {
      if (!(error instanceof PaymentInvalidError)) return undefined;
      // The authorization was used for something else, or expired unused. So this payment never comes.
      await this.#stored(this.#store.forget(key));
      return refusal(error.code, requirements);
    }
  }

  /** The store's answer, or "failed" if the store does not answer in time. */
  async #stored<T>(work: Promise<T>): Promise<T | "failed"> {
    const answer = work.then((value) => ({ value })).catch(() => undefined);
    const done = await within(answer, this.#limits.store);
    return done ? done.value : "failed";
  }
}

/** A nonce belongs to its payer, and to one token of one chain. */
const keyOf = ({ payer, nonce }: Authorization, { network, asset }: PaymentRequirements) =>
  `${network} ${asset.toLowerCase()} ${payer} ${nonce}`;

const refusal = (errorReason: string, { network }: PaymentRequirements): SettleResponse => ({
  ...{ success: false, errorReason, transaction: "" },
  network,
});

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
