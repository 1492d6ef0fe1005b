import { actors } from "../actors.ts";
import { hireOnce } from "./hireDirectly.ts";
import { EXTRACT, SUMMARIZE, TRANSLATE } from "./openMarket.ts";
import type { Scene } from "./scene.ts";

/** How often each wallet of the ring hires. The hires would be enough for Tier 2 if they counted in full. */
const ROUNDS = 5;

/**
 * Four wallets hire the fifth, five times each, and are always satisfied. All five got their money from one
 * wallet.
 */
export async function runRing(scene: Scene): Promise<string> {
  const [seller, ...buyers] = actors.ring;
  const offers = [TRANSLATE, SUMMARIZE, EXTRACT].map((offer) => ({ ...offer, price: "0.10" }));
  let hires = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (const buyer of buyers) {
      const offer = offers[hires % offers.length] ?? TRANSLATE;
      hires++;
      await hireOnce(scene, { buyer, seller, offer, passed: true, countersigned: true }, `ring-${hires}`);
    }
  }
  return `${hires} hires among five wallets that one wallet funded`;
}
