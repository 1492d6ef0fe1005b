import * as z from "zod";
import { type Address, addressSchema } from "../address.ts";

/** A contract or wallet on a chain, as ERC-8004 writes both: `eip155:{chainId}:{address}` (CAIP-10). */
export type AccountId = { chainId: number; address: Address };

const PATTERN = /^eip155:([1-9]\d{0,15}):(0x[0-9a-fA-F]{40})$/;

/** Writes an {@link AccountId}; the address in lower case. */
export function formatAccountId({ chainId, address }: AccountId): string {
  return `eip155:${chainId}:${address}`;
}

/** Reads an {@link AccountId}. The address may have upper and lower case, and becomes lower case. */
export const accountIdSchema = z.string().transform((text, context): AccountId => {
  const match = PATTERN.exec(text);
  const chainId = Number(match?.[1]);
  const read = addressSchema.safeParse(match?.[2]?.toLowerCase());
  if (read.success && Number.isSafeInteger(chainId)) return { chainId, address: read.data };
  context.addIssue({ code: "custom", message: "must be eip155:{chain id}:{address}" });
  return z.NEVER;
});
