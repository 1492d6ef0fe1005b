import { parseUsdc } from "tallystick-protocol/amount";
import { keccak256, toHex } from "viem";
import { type Actor, actors } from "../actors.ts";
import type { Escrow } from "../demoChain.ts";
import { PROVIDER } from "../startDemoNode.ts";
import { REVIEW } from "./openMarket.ts";
import type { Scene } from "./scene.ts";

/** The seller's time for the delivery, in seconds. */
const TIME_TO_DELIVER = 600;

/**
 * Six deposits for forge: two are released, one is refunded, and three time out. For one of the last three, forge does
 * nothing.
 */
export async function hireByEscrow({ chain, records }: Scene): Promise<string> {
  const { acme, bolt, forge } = actors;
  const amount = parseUsdc(REVIEW.price);
  const deadline = (await chain.now()) + BigInt(TIME_TO_DELIVER);
  let hires = 0;
  const deposit = async (buyer: Actor) => {
    const name = `escrow-${++hires}`;
    const escrow = await chain.deposit({
      buyer,
      seller: forge,
      amount,
      hireId: keccak256(toHex(name)),
      deadline,
    });
    return { ...escrow, name, buyer };
  };
  const receipt = ({ buyer, name, id, tx }: Escrow & { buyer: Actor; name: string }, passed: boolean) =>
    records.receipt({
      seller: forge,
      buyer,
      capability: REVIEW.capability,
      hireId: name,
      tx,
      amount,
      passed,
      latency: 30_000,
      escrow: { id, provider: PROVIDER },
    });

  const first = await deposit(acme);
  await chain.markDelivered(first, forge);
  await receipt(first, true);
  await chain.release(first, acme);

  const second = await deposit(bolt);
  await receipt(second, true);
  await chain.release(second, bolt);

  const unwanted = await deposit(bolt);
  await receipt(unwanted, true);
  await chain.refund(unwanted, bolt);

  const ignored = await deposit(acme);
  await chain.markDelivered(ignored, forge);
  await receipt(ignored, true);

  const undelivered = await deposit(bolt);
  await receipt(undelivered, false);

  // Anybody can make a deposit for forge. A deposit for which forge does nothing is no hire of forge. It can only count
  // in `unanswered_escrows`.
  const unheard = await deposit(acme);

  await chain.passTime(TIME_TO_DELIVER);
  for (const escrow of [ignored, undelivered, unheard]) await chain.timeoutRefund(escrow);
  return "2 released, 1 refunded, 3 timed out: 1 after delivery, 1 without delivery, 1 without any act of the seller";
}
