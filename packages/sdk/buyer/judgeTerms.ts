import type { Address } from "tallystick-protocol/address";
import { formatUsdc } from "tallystick-protocol/amount";
import { type Listing, listingPayee } from "tallystick-protocol/records/listing";
import { networkId, type PaymentNetwork } from "../chain/paymentNetwork.ts";
import { PaymentRefusedError } from "../errors.ts";
import type { PaymentRequired, PaymentRequirements } from "../x402/paymentHeaders.ts";

/** The terms that a buyer accepts. They are fixed before it asks the seller. */
export type Agreed = {
  listing: Listing;
  price: bigint;
  maxPrice: bigint;
  network: PaymentNetwork;
  /** Whether the result comes later (SHP §7.2). */
  isAsync: boolean;
};

/** The longest validity of a signature beyond the seller's promised latency, in seconds. */
const MAX_EXTRA_SECONDS = 300;

/**
 * Returns the first option of a 402 that a buyer may sign. It has this scheme, the buyer's network and token,
 * and the expected payee, and costs at most the listing's price and the caller's maximum. Nothing else is
 * ever signed.
 * @param scheme `exact`, or {@link ESCROW_SCHEME}
 * @param payee the listing's payee, or the escrow
 * @throws PaymentRefusedError `overcharged`, `payee_changed`, `wrong_token`, `wrong_network`,
 * `unsupported_scheme`
 */
export function judgeTerms(
  required: PaymentRequired,
  agreed: Agreed,
  scheme = "exact",
  payee: Address = listingPayee(agreed.listing),
): PaymentRequirements {
  const offered = required.accepts.filter((option) => option.scheme === scheme);
  const refuse = refusal(agreed.listing);
  if (offered.length === 0) {
    throw refuse("unsupported_scheme", `It does not take x402's scheme ${scheme}.`);
  }
  const here = offered.filter(({ network }) => network === networkId(agreed.network));
  if (here.length === 0) {
    const asked = readable(offered, "network", /^[a-z0-9-]{3,8}:[0-9]{1,15}$/);
    throw refuse("wrong_network", `It wants to be paid on ${asked}, not on ${networkId(agreed.network)}.`);
  }
  const ours = here.filter((option) => isOurToken(option, agreed.network));
  if (ours.length === 0) {
    throw refuse("wrong_token", `It does not take the token ${agreed.network.token} by EIP-3009.`);
  }
  const toPayee = ours.filter(({ payTo }) => typeof payTo === "string" && payTo.toLowerCase() === payee);
  if (toPayee.length === 0) {
    const asked = readable(ours, "payTo", /^0x[0-9a-fA-F]{40}$/);
    throw refuse("payee_changed", `It wants ${asked} to be paid, not ${payee}.`);
  }
  const option = toPayee.find(({ amount }) => isAtMost(amount, agreed));
  if (!option) {
    const asked = readable(toPayee, "amount", /^[0-9]{1,78}$/);
    throw refuse(
      "overcharged",
      `It asks for ${asked} atomic units; its listing says ${formatUsdc(agreed.price)} USDC.`,
    );
  }
  return option;
}

/**
 * What the options ask for in one field, for a message. A seller may write anything there, and a message is read as
 * our own words. So only what has the form of the field is quoted.
 */
function readable(
  options: readonly PaymentRequirements[],
  field: "network" | "payTo" | "amount",
  form: RegExp,
): string {
  const asked = options.map((option): unknown => option[field]);
  const quoted = asked.filter((it) => typeof it === "string" && form.test(it)).slice(0, 3);
  return quoted.length > 0 ? quoted.join(", ") : "something unreadable";
}

/** Returns a function that makes the errors about one seller's terms. */
export function refusal({ agent_id: seller }: Listing) {
  return (code: string, message: string): PaymentRefusedError =>
    new PaymentRefusedError({
      code,
      message,
      hint: "Nothing was signed. Hire somebody else, or search again: the listing may have changed.",
      seller,
    });
}

function isOurToken({ asset, extra }: PaymentRequirements, network: PaymentNetwork): boolean {
  if (typeof asset !== "string" || asset.toLowerCase() !== network.token.toLowerCase()) return false;
  const { name, version, assetTransferMethod } = extra ?? {};
  if (assetTransferMethod !== undefined && assetTransferMethod !== "eip3009") return false;
  // A signature in another EIP-712 domain would be useless to the seller, or would authorize something else.
  return (
    (name === undefined || name === network.name) && (version === undefined || version === network.version)
  );
}

function isAtMost(amount: unknown, { price, maxPrice }: Agreed): boolean {
  if (typeof amount !== "string" || !/^(?:0|[1-9]\d{0,77})$/.test(amount)) return false;
  return BigInt(amount) <= price && BigInt(amount) <= maxPrice;
}

/**
 * The time until which a payment may be used, in unix seconds. It is long enough for the work, and it has a limit
 * that the seller cannot raise.
 */
export function validUntil(option: PaymentRequirements, { listing }: Agreed, nowSeconds: number): bigint {
  const least = Math.ceil(listing.max_latency_ms / 1000) + 30;
  const asked = Number.isSafeInteger(option.maxTimeoutSeconds) ? option.maxTimeoutSeconds : least;
  return BigInt(nowSeconds + Math.min(Math.max(asked, least), least + MAX_EXTRA_SECONDS));
}
