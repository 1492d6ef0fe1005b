import { createHmac, timingSafeEqual } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "tallystick-protocol/address";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { type Hex, toBareHex } from "tallystick-protocol/hex";
import { signRecord } from "tallystick-protocol/records/record";
import type { ReadSignature } from "tallystick-runtime/signatures/readSignature";
import type { LocalAccount } from "viem";
import type { SettledRecord, SettlementEngine, Validated } from "../engine/settlementEngine.ts";
import { checkSignature, type IsContractSignature } from "../signatures/checkSignature.ts";
import type { ClaimChecker } from "./claimChecker.ts";

/** How long a challenge is valid, in seconds. */
export const CHALLENGE_LIFETIME = 86_400;

/** The text that the owner of an X account posts to claim an agent (SHP §4.2). */
export type ClaimChallenge = { nonce: string; verificationHash: string; text: string; expiresAt: number };

/** The proof of a claim: what the agent signs and the account has posted. `postId` names the post. */
export type ClaimProof = ClaimSubject & { nonce: string; signature: Hex; postId?: string };

/** The X account that claims an agent, and this agent. */
export type ClaimSubject = { agentId: Address; handle: string };

/**
 * Human ownership claims (SHP §4.2). Nothing is stored between the challenge and its proof. The nonce contains its expiry
 * and a code that only this attestor can make. So a restart loses no claim, and nobody can fill the memory.
 */
export class ClaimDesk {
  readonly #attestor: LocalAccount;
  readonly #secret: Uint8Array;
  readonly #checker: ClaimChecker;
  readonly #engine: SettlementEngine;
  readonly #now: () => number;
  readonly #isContractSignature: IsContractSignature | undefined;
  readonly #readSignature: ReadSignature | undefined;

  /** @param secret known to this service only; the attestor's private key, for example */
  constructor(parameters: {
    attestor: LocalAccount;
    secret: Uint8Array;
    checker: ClaimChecker;
    engine: SettlementEngine;
    now: () => number;
    isContractSignature?: IsContractSignature;
    /** How signatures are read. Default: on this thread, in plain JavaScript. */
    readSignature?: ReadSignature;
  }) {
    this.#attestor = parameters.attestor;
    this.#secret = parameters.secret;
    this.#checker = parameters.checker;
    this.#engine = parameters.engine;
    this.#now = parameters.now;
    this.#isContractSignature = parameters.isContractSignature;
    this.#readSignature = parameters.readSignature;
  }

  /** Issues a challenge. Settles nothing. */
  challenge(subject: ClaimSubject): ClaimChallenge {
    const expiresAt = Math.floor(this.#now()) + CHALLENGE_LIFETIME;
    const nonce = `${expiresAt}.${this.#code(subject, expiresAt)}`;
    const verificationHash = verificationHashOf(subject, nonce);
    const text = `Claiming agent ${subject.agentId} on @swarmwage: ${verificationHash}`;
    return { nonce, verificationHash, text, expiresAt };
  }

  /**
   * Settles the claim if the account has posted the challenge's hash and the agent has signed `{agent_id,
   * x_handle, nonce}`. The agent's signature is needed: with a post alone anyone could claim any agent.
   *
   * @param proof `beforeAsking` is called before X is asked. It may throw
   * @throws InvalidInputError `invalid_challenge` naming `nonce` when this service did not issue it, or it
   * has expired; `invalid_signature` naming `signature` when the agent did not sign
   * @throws TallystickError `claim_not_proven` (422), `x_unavailable` (503); nothing is settled then
   */
  async verify({
    nonce,
    postId,
    signature,
    beforeAsking,
    ...subject
  }: ClaimProof & { beforeAsking?: () => Promise<unknown> }): Promise<{
    record: SettledRecord | Validated;
    postId: string;
    verificationHash: string;
  }> {
    this.#checkNonce(subject, nonce);
    const consent = { agent_id: subject.agentId, x_handle: subject.handle, nonce };
    const signed = { type: "claim", body: consent, signer: subject.agentId, signature };
    await checkSignature(signed, this.#isContractSignature, this.#readSignature);
    const verificationHash = verificationHashOf(subject, nonce);
    const { handle } = subject;
    await beforeAsking?.();
    const found = await this.#checker.findPost({
      handle,
      text: verificationHash,
      ...(postId !== undefined && { postId }),
    });
    if (found === undefined) {
      throw new TallystickError({
        code: "claim_not_proven",
        message: `No post by @${handle} with ${verificationHash} was found.`,
        hint: "Publish a post with the text that POST /v1/claim gave. If the post is not found at once, send post_id.",
      });
    }
    const body = {
      agent_id: subject.agentId,
      x_handle: handle,
      verification_hash: verificationHash,
      state: "verified",
      nonce,
      post_id: found,
      agent_signature: signature,
    };
    const record = await signRecord({
      type: "claim",
      ledger: this.#engine.ledgerName,
      body,
      account: this.#attestor,
    });
    return { record: await this.#engine.settleRecord(record), postId: found, verificationHash };
  }

  #checkNonce(subject: ClaimSubject, nonce: string): void {
    const match = /^([0-9]{1,12})\.([0-9a-f]{64})$/.exec(nonce);
    if (!match) throw badChallenge("is not one of this service");
    const [, expiry = "", code = ""] = match;
    const expected = this.#code(subject, Number(expiry));
    if (!timingSafeEqual(Buffer.from(code, "hex"), Buffer.from(expected, "hex"))) {
      throw badChallenge("was not given for this agent_id and x_handle");
    }
    if (Number(expiry) <= this.#now()) throw badChallenge("has expired");
  }

  #code({ agentId, handle }: ClaimSubject, expiresAt: number): string {
    return createHmac("sha256", this.#secret).update(`claim ${agentId} ${handle} ${expiresAt}`).digest("hex");
  }
}

function badChallenge(message: string): InvalidInputError {
  return new InvalidInputError({
    code: "invalid_challenge",
    issues: [{ field: "nonce", message }],
    hint: "POST /v1/claim gives a new challenge.",
  });
}

/** sha256(agent_id ‖ x_handle ‖ nonce), as text (SHP §4.2): 64 hex digits. */
export function verificationHashOf({ agentId, handle }: ClaimSubject, nonce: string): string {
  return toBareHex(sha256(utf8ToBytes(`${agentId}${handle}${nonce}`)));
}
