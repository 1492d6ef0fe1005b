import type { Progress } from "../cli/progress.ts";
import { waitUntil } from "../processes/waitUntil.ts";
import { createAgentRecords } from "./agentRecords.ts";
import { createDemoChain } from "./demoChain.ts";
import { type Answer, readBack, type Target, untilCaughtUp } from "./readBack.ts";
import type { DemoNode } from "./startDemoNode.ts";
import { auditHires } from "./story/audits/auditHires.ts";
import { dispatchTasks } from "./story/dispatch/dispatchTasks.ts";
import { hireByEscrow } from "./story/hireByEscrow.ts";
import { hireDirectly } from "./story/hireDirectly.ts";
import { openMarket } from "./story/openMarket.ts";
import { type RewriteResult, rewriteHistory } from "./story/rewriteHistory.ts";
import { runRing } from "./story/runRing.ts";
import type { Scene } from "./story/scene.ts";
import { keepPromise } from "./story/sla/keepPromise.ts";

/** The end of the story: the node's answers, and the result of rewriting the ledger. */
export type StoryResult = { answer: Answer; target: Target; rewrite: RewriteResult };

/**
 * Plays the story of the demo on a running node, and reads the results back through GraphQL.
 *
 * @throws TallystickError `demo_mismatch` when an answer of the node is not what the story must give
 */
export async function runStory(
  node: DemoNode,
  progress: Progress,
  signal: AbortSignal,
): Promise<StoryResult> {
  const chain = createDemoChain(node, signal);
  const untilAnchored = async (size: number) => {
    const look = async () => (await chain.anchoredHead()).size >= size;
    await waitUntil(look, { what: `an anchor of ${size} entries`, withinMs: 240_000, signal });
  };
  const records = createAgentRecords(node, signal);
  const scene: Scene = { node, signal, chain, records, untilAnchored };
  const act = (title: string, play: (scene: Scene) => Promise<string>) =>
    progress.step(title, async () => ({ detail: await play(scene), value: undefined }));

  await act("SLA", keepPromise);
  await act("market", openMarket);
  await act("direct", hireDirectly);
  await act("escrow", hireByEscrow);
  await act("ring", runRing);
  const { paidBefore } = await auditHires(scene, act);
  await act("dispatch", dispatchTasks);

  const target = await progress.step("anchor", async () => {
    const { size } = await records.latest();
    await untilAnchored(size);
    const { root } = await chain.anchoredHead();
    const block = await chain.mineToTick();
    return {
      detail: `${size} entries, root ${root.slice(0, 10)}…`,
      value: { block, ledger: node.ledger, size, root, paidBefore },
    };
  });
  const answer = await progress.step("derive", async () => {
    const { digest } = await untilCaughtUp(node.url, target, signal);
    const value = await readBack(node.url, target, signal);
    return { detail: `up to block ${target.block}, digest ${digest?.slice(0, 10)}…`, value };
  });
  const rewrite = await progress.step("rewrite", async () => {
    const value = await rewriteHistory(node, chain, signal);
    return {
      detail: `line ${value.line} was changed; the check found it, and the contract refused it`,
      value,
    };
  });
  // The rewriting did not reach the node: its answers are the same as before.
  await readBack(node.url, target, signal);
  return { answer, target, rewrite };
}
