import { parseUsdc } from "tallystick-protocol/amount";
import { actors } from "../actors.ts";
import type { Offer } from "../agentRecords.ts";
import { PROVIDER } from "../startDemoNode.ts";
import type { Scene } from "./scene.ts";

/** What scribe and the ring's first wallet sell, and rookie the first of. */
export const TRANSLATE: Offer = { capability: "text.translate.en.it", price: "0.50", latency: 4_000 };
export const SUMMARIZE: Offer = { capability: "text.summarize.short", price: "0.25", latency: 2_000 };
export const EXTRACT: Offer = { capability: "data.extract.from-url", price: "1.00", latency: 9_000 };
/** What forge sells, by escrow. */
export const REVIEW: Offer = { capability: "code.review", price: "2.00", latency: 60_000 };

/** Sellers publish what they offer, buyers get money, and one wallet funds five. */
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

  // An offer counts from its anchor on. Whoever is paid before has no offer on the chain's clock yet.
  await untilAnchored(last.index + 1);
  return `${last.index + 1 - before} offers by 8 sellers, anchored`;
}
