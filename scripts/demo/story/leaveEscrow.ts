import { parseUsdc } from "tallystick-protocol/amount";
import { keccak256, toHex } from "viem";
import { actors } from "../actors.ts";
import { createDemoChain, type Escrow } from "../demoChain.ts";
import type { DemoNode } from "../startDemoNode.ts";
import { REVIEW } from "./openMarket.ts";

/** The time until the deadline, in seconds: enough to look at it for a day. */
const TIME_TO_DELIVER = 86_400n;

/**
 * Leaves money of acme in an escrow for forge. So the portal of a running demo has an escrow with a running
 * deadline. The story is over at that time, so its results do not change.
 */
export async function leaveEscrow(node: DemoNode, signal: AbortSignal): Promise<Escrow> {
  const chain = createDemoChain(node, signal);
  return await chain.deposit({
    buyer: actors.acme,
    seller: actors.forge,
    amount: parseUsdc(REVIEW.price),
    hireId: keccak256(toHex("escrow that is left")),
    deadline: (await chain.now()) + TIME_TO_DELIVER,
  });
}
