import { type TypedDataDomain, TypedDataEncoder, type TypedDataField } from "ethers";
import { authorizationFields } from "tallystick-protocol/escrow/authorization";
import { hireTypes } from "tallystick-protocol/escrow/hire";
import type { Hire } from "../hire.ts";
import type { Actor } from "./cast.ts";
import type { Verb } from "./rules.ts";

/** A message that can be signed: EIP-712 typed data in a domain. */
export type Word = {
  domain: TypedDataDomain;
  types: Record<string, TypedDataField[]>;
  message: Record<string, unknown>;
};

/** The seller's part in a split of the matrix, and the hash of the delivery. */
export const TO_SELLER = 200_001n;
export const RESULT = `0x${"5e".repeat(32)}`;

export type Domains = { escrow: TypedDataDomain; token: TypedDataDomain; escrowAddress: string };

/** The message that a verb requires for a hire. A verb without its own message requires the hire. */
export function wordFor(verb: Verb, hire: Hire, id: string, named: string, domains: Domains): Word {
  const typed = (name: keyof typeof hireTypes, message: Record<string, unknown>): Word => ({
    domain: domains.escrow,
    types: { [name]: [...hireTypes[name]] },
    message,
  });
  switch (verb) {
    case "depositWithAuthorization":
      return {
        domain: domains.token,
        types: { ReceiveWithAuthorization: [...authorizationFields] },
        message: {
          from: hire.buyer,
          to: domains.escrowAddress,
          value: hire.amount,
          validAfter: 0n,
          validBefore: 2n ** 64n,
          nonce: id,
        },
      };
    case "markDelivered":
      return typed("MarkDelivered", { escrowId: id, resultHash: RESULT });
    case "split":
      return typed("Split", { escrowId: id, toSeller: TO_SELLER });
    case "refund":
      return typed("Refund", { escrowId: id, signer: named });
    case "release":
      return typed("Release", { escrowId: id });
    default:
      return typed("Hire", hire);
  }
}

export function digestOf({ domain, types, message }: Word): string {
  return TypedDataEncoder.hash(domain, types, message);
}

const signed = new Map<string, string>();

/** An account's signature over a message. Each signature is computed only once. */
export function sign({ key }: Actor, word: Word): string {
  const digest = digestOf(word);
  const name = `${key.address} ${digest}`;
  const known = signed.get(name) ?? key.signingKey.sign(digest).serialized;
  signed.set(name, known);
  return known;
}
