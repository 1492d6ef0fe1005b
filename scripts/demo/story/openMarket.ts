import { parseUsdc } from "tallystick-protocol/amount";
import { actors } from "../actors.ts";
import type { Offer } from "../agentRecords.ts";
import { PROVIDER } from "../startDemoNode.ts";
import type { Scene } from "./scene.ts";

/** The offers of the actor `scribe`. The ring's first wallet has the same offers for less, and `rookie` has TRANSLATE. */
export const TRANSLATE: Offer = { capability: "text.translate.en.it", price: "0.50", latency: 4_000 };
export const SUMMARIZE: Offer = { capability: "text.summarize.short", price: "0.25", latency: 2_000 };
export const EXTRACT: Offer = { capability: "data.extract.from-url", price: "1.00", latency: 9_000 };
/** The offer of the actor `forge`, which is paid by escrow. */
export const REVIEW: Offer = { capability: "code.review", price: "2.00", latency: 60_000 };

/**
 * The first act of the story: sellers publish their offers, buyers get money, and one wallet funds the five
 * wallets of the ring.
 */
export async function openMarket({ chain, records, untilAnchored }: Scene): Promise<string> {
  const { scribe, rookie, forge, acme, bolt, puppeteer, ring } = actors;
  await chain.mint(acme, parseUsdc("100"));
  await chain.mint(bolt, parseUsdc("100"));
  await chain.mint(puppeteer, parseUsdc("500"));
  for (const wallet of ring) await chain.transfer(puppeteer, wallet, parseUsdc("25"));

  const [leader, ...others] = ring;
  const { size: before } = await records.latest();
  for (const offer of [TRANSLATE, SUMMARIZE, EXTRACT]) {
    await records.list(scribe, offer);
    await records.list(leader, { ...offer, price: "0.10" });
  }
  await records.list(rookie, TRANSLATE);
  for (const other of others) await records.list(other, { ...SUMMARIZE, price: "0.10" });
  const last = await records.list(forge, REVIEW, `platform_escrow:${PROVIDER}`);

  // An offer counts from its anchor on. A payment before the anchor would belong to no offer.
  await untilAnchored(last.index + 1);
  return `${last.index + 1 - before} offers by 8 sellers, anchored`;
}
