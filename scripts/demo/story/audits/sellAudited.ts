import { parseUsdc } from "tallystick-protocol/amount";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseListing } from "tallystick-protocol/records/listing";
import { type Actor, actors } from "../../actors.ts";
import { SUMMARIZE, TRANSLATE } from "../openMarket.ts";
import type { Scene } from "../scene.ts";
import { CONSENT_SECONDS } from "./enrollAuditors.ts";
import { ESCROW_MODE, type Parties } from "./openParties.ts";
import { GARBAGE, MISTRANSLATION, SENTENCE, SOURCE, TRANSLATION } from "./work.ts";

/** How long the sellers of this chapter may take. A busy machine is slow. */
const LATENCY_MS = 20_000;

const { acme, bolt, gripe, mirage, operator, pewter, sterling } = actors;

/**
 * Three sellers agree to audits. The actor `mirage` sells an invented summary, which passes its buyer's checks. The
 * actor `sterling` sells a good translation, and `pewter` sells a bad one. Both buyers take their money back after
 * delivery. The refund by sterling's buyer is wrong, and the refund by pewter's buyer is right.
 */
export async function sellAudited({ chain, records, untilAnchored, signal }: Scene, parties: Parties) {
  const audit = { operator: operator.address };
  const garbage = await parties.sell({
    actor: mirage,
    listings: [
      {
        capability: SUMMARIZE.capability,
        price_usdc: SUMMARIZE.price,
        max_latency_ms: LATENCY_MS,
        audit,
      },
    ],
    work: () => ({ summary: GARBAGE }),
  });
  const translator = (actor: Actor, text: string) =>
    parties.sell({
      actor,
      listings: [
        {
          capability: TRANSLATE.capability,
          price_usdc: TRANSLATE.price,
          max_latency_ms: LATENCY_MS,
          payment_mode: ESCROW_MODE,
          audit,
        },
      ],
      work: () => ({ text, detected_lang: "en" }),
    });
  const good = await translator(sterling, TRANSLATION);
  const bad = await translator(pewter, MISTRANSLATION);
  await chain.mint(gripe, parseUsdc("1"));
  for (const { seller } of [garbage, good, bad]) await seller.publish();
  await untilAnchored((await records.latest()).size);
  await chain.passTime(CONSENT_SECONDS + 1);
  await parties.setClocks();

  const hireOf = ({ seller }: typeof garbage) => ({
    listing: parseListing(seller.listings[0]?.body as RecordBody),
    maxLatencyMs: LATENCY_MS,
    telemetry: false,
    idempotencyKey: "new",
    signal,
  });
  const bought = await parties.buyer(acme).hire({
    ...hireOf(garbage),
    capability: SUMMARIZE.capability,
    params: { text: SOURCE },
    maxPriceUsdc: SUMMARIZE.price,
  });
  const refundedBy = async (actor: Actor, party: typeof good) => {
    const buyer = parties.buyer(actor);
    const hired = await buyer.hire({
      ...hireOf(party),
      capability: TRANSLATE.capability,
      params: { text: SENTENCE },
      maxPriceUsdc: TRANSLATE.price,
      // Both buyers say that the work is bad.
      verify: () => ({ all_passed: false, checks: { content: false }, details: {} }),
    });
    await buyer.idle();
    return hired;
  };
  const refunded = await Promise.all([refundedBy(gripe, good), refundedBy(bolt, bad)]);
  await parties.untilReceipted(signal);
  await untilAnchored((await records.latest()).size);
  return { bought, refunded };
}
