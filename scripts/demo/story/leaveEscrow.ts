import { parseUsdc } from "tallystick-protocol/amount";
import { keccak256, toHex } from "viem";
import { actors } from "../actors.ts";
import { createDemoChain, type Escrow } from "../demoChain.ts";
import type { DemoNode } from "../startDemoNode.ts";
import { REVIEW } from "./openMarket.ts";

/** Long enough to look at it for a day, in seconds. */
const TIME_TO_DELIVER = 86_400n;

/**
 * Leaves money of acme's in an escrow for forge, so that who opens the portal of a demo that keeps running finds an escrow
 * whose clock runs. The story is over by then, and what was read back of it stays.
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
