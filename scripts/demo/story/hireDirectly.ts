import { parseUsdc } from "tallystick-protocol/amount";
import { type Actor, actors } from "../actors.ts";
import type { Offer } from "../agentRecords.ts";
import { EXTRACT, SUMMARIZE, TRANSLATE } from "./openMarket.ts";
import type { Scene } from "./scene.ts";

type DirectHire = { buyer: Actor; seller: Actor; offer: Offer; passed: boolean; countersigned?: boolean };

const { acme, bolt, scribe, rookie } = actors;

/** Eleven hires of scribe, one of which fails, and two of rookie, one of which fails. */
const HIRES: DirectHire[] = [
  { buyer: acme, seller: scribe, offer: TRANSLATE, passed: true, countersigned: true },
  { buyer: bolt, seller: scribe, offer: TRANSLATE, passed: true },
  { buyer: acme, seller: rookie, offer: TRANSLATE, passed: true, countersigned: true },
  { buyer: acme, seller: scribe, offer: SUMMARIZE, passed: true },
  { buyer: bolt, seller: scribe, offer: SUMMARIZE, passed: true, countersigned: true },
  { buyer: acme, seller: scribe, offer: EXTRACT, passed: true },
  { buyer: bolt, seller: scribe, offer: EXTRACT, passed: false, countersigned: true },
  { buyer: bolt, seller: rookie, offer: TRANSLATE, passed: false, countersigned: true },
  { buyer: acme, seller: scribe, offer: TRANSLATE, passed: true },
  { buyer: bolt, seller: scribe, offer: TRANSLATE, passed: true },
  { buyer: acme, seller: scribe, offer: SUMMARIZE, passed: true },
  { buyer: bolt, seller: scribe, offer: EXTRACT, passed: true },
  { buyer: acme, seller: scribe, offer: EXTRACT, passed: true },
];

/**
 * Buyers pay sellers directly. Each hire ends with the seller's receipt; some receipts also have the buyer's
 * signature.
 */
export async function hireDirectly(scene: Scene): Promise<string> {
  for (const [number, hire] of HIRES.entries()) await hireOnce(scene, hire, `direct-${number + 1}`);
  return `${HIRES.length} hires paid by EIP-3009, each with a receipt`;
}

/** One payment and its receipt. */
export async function hireOnce({ chain, records }: Scene, hire: DirectHire, hireId: string): Promise<void> {
  const { buyer, seller, offer, passed, countersigned = false } = hire;
  const amount = parseUsdc(offer.price);
  const tx = await chain.pay(buyer, seller, amount);
  const { capability } = offer;
  const latency = Math.floor(offer.latency / 2);
  await records.receipt({ seller, buyer, capability, hireId, tx, amount, passed, latency, countersigned });
}
