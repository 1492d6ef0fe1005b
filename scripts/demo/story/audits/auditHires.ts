import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { decide } from "../../../../services/auditing/decide.ts";
import { openOperator } from "../../../../services/auditing/openOperator.ts";
import type { Operator } from "../../../../services/auditing/operator.ts";
import { waitUntil } from "../../../processes/waitUntil.ts";
import { actors } from "../../actors.ts";
import { askGraphql } from "../../readBack.ts";
import type { Scene } from "../scene.ts";
import { type DemoAuditor, enrollAuditors } from "./enrollAuditors.ts";
import { openParties, type Parties } from "./openParties.ts";
import { sellAudited } from "./sellAudited.ts";

/**
 * How many seconds an operator without records of earlier payments waits. After that, no payment that an
 * earlier process may have signed can still be used.
 */
const FIRST_PAYMENTS_AFTER = 1_800;

/** The smallest amount that the operator pays at once, in atomic units. */
const MIN_PAYMENT = 1_000n;

const { mirage, operator, pool } = actors;

type Act = (title: string, play: (scene: Scene) => Promise<string>) => Promise<unknown>;

/**
 * The chapter on audits (SHP §8.3). Worthless work in a valid form is drawn, two auditors fail it, and it is
 * rolled back. Work whose buyers took their money back is drawn too. The good work passes. The bad work fails,
 * so its hire stays a failure. Agents, auditors and operator run the same code as in production.
 */
export async function auditHires(scene: Scene, act: Act): Promise<{ paidBefore: number }> {
  const parties = openParties(scene);
  const folder = await mkdtemp(path.join(tmpdir(), "tallystick-demo-auditing-"));
  const operating: Operator[] = [];
  try {
    let auditors: DemoAuditor[] = [];
    await act("auditors", async () => {
      auditors = await enrollAuditors(scene, parties);
      operating.push(await openDemoOperator(scene, parties, folder));
      return `${auditors.length} sellers in Tier 2 offer to audit, and a pool pays them`;
    });
    await act("audited", async () => {
      const { bought, refunded } = await sellAudited(scene, parties);
      const refunds = [...new Set(refunded.map(({ money }) => money))].join(" and ");
      const passed = bought.verification.all_passed
        ? "passed its buyer's checks"
        : "failed its buyer's checks";
      return `an invented summary ${passed}; a good and a bad translation were ${refunds}`;
    });
    await act("audits", async () => {
      const [desk] = operating;
      if (desk === undefined) throw new Error("There is no operator.");
      return await judgeAndDecide(scene, parties, auditors, desk);
    });
    const [desk] = operating;
    return { paidBefore: desk?.state().taken ?? 0 };
  } finally {
    for (const it of operating) await it.close();
    await parties.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The operator of `tallystick audit-operator`. The story starts each of its rounds. */
async function openDemoOperator({ node }: Scene, { network }: Parties, folder: string): Promise<Operator> {
  return await openOperator({
    config: {
      ...{ nodeUrl: node.url, rpcUrl: node.rpcUrl, network, folder, host: "127.0.0.1", port: 0 },
      escrows: [node.deployment.hireEscrow.address],
      operatorKey: operator.privateKey,
      poolKey: pool.privateKey,
      ...{
        roundMs: 60_000,
        budget: 1_000_000n,
        least: MIN_PAYMENT,
        payBefore: true,
        confirmations: 1,
        devMode: true,
      },
    },
    log: () => {},
    now: Date.now,
  });
}

/** The most rounds until the auditors have given the wanted number of verdicts. */
const MAX_ROUNDS = 6;

async function judgeAndDecide(
  scene: Scene,
  parties: Parties,
  auditors: DemoAuditor[],
  desk: Operator,
): Promise<string> {
  const { node, chain, records, untilAnchored, signal } = scene;
  const anchored = async () => untilAnchored((await records.latest()).size);
  const untilStatus = statusWaiter(scene);
  /** The operator hires the drawn auditors, and they judge, until this many verdicts are given. */
  const judge = async (verdicts: number) => {
    let given = 0;
    // On a busy machine an answer may come too late for a round. Then the next round gets it.
    for (let round = 0; round < MAX_ROUNDS && given < verdicts; round++) {
      signal.throwIfAborted();
      await desk.round();
      // A seller asks its node at most every five seconds which auditor may see its work.
      parties.passTime(5_000);
      given = 0;
      for (const it of auditors) {
        const auditor = it.open();
        await auditor.round();
        given += (await auditor.works()).filter(({ stage }) => stage === "posted").length;
      }
    }
    if (given < verdicts) throw new Error(`${given} verdicts were given, not ${verdicts}.`);
    await anchored();
  };

  await chain.mineToTick();
  await untilStatus("auditors of three hires", { ASSIGNED: 3 });
  await judge(3);
  await chain.mineToTick();
  await untilStatus("second auditors", { ASSIGNED: 2, PASSED: 1 });
  await judge(5);
  await chain.passTime(FIRST_PAYMENTS_AFTER);
  await untilStatus("a challenge", { CHALLENGED: 1, FAILED: 1, PASSED: 1 });

  await untilTick(scene);
  await desk.round();
  const [challenged] = desk.state().challenged;
  if (challenged?.seller !== mirage.address) throw new Error("The operator was not told what to decide.");
  const reasons = [{ code: "fabricated", detail: "Two auditors agree: the summary is of nothing." }] as const;
  await decide({
    baseUrl: node.url,
    ledger: node.ledger,
    account: operator.account,
    decision: { hire: challenged.hire, decision: "rollback", reasons: [...reasons] },
  });
  await anchored();
  // What the operator read at the last tick may be paid once this tick is final.
  await untilTick(scene);
  await desk.round();
  await parties.untilReceipted(signal);
  await untilStatus("the rollback", { ROLLED_BACK: 1, FAILED: 1, PASSED: 1 });
  const { failures, taken } = desk.state();
  if (failures > 0) throw new Error(`${failures} parts of the operator's rounds failed.`);
  // Each of the two auditors is paid in advance at least once. For a second hire at the same time it is paid
  // only after its verdict.
  if (taken < auditors.length) throw new Error(`${taken} auditors took their fee when they were hired.`);
  return "an invented summary failed two audits; one refund was wrong, one was right; auditors are paid";
}

/** Mines up to the next tick, and waits until the node has derived it. */
async function untilTick({ node, chain, signal }: Scene): Promise<void> {
  const block = await chain.mineToTick();
  await waitUntil(
    async (limit) => {
      const { meta } = await askGraphql<{ meta: { block: number } }>(node.url, "{ meta { block } }", limit);
      if (meta.block >= block) return true;
      throw new Error(`it is at block ${meta.block}`);
    },
    { what: `the tick at block ${block}`, withinMs: 240_000, signal },
  );
}

/** Makes a function that waits until the node has the wanted number of audits with each status. */
function statusWaiter({ node, signal }: Scene) {
  return async (what: string, wanted: { [status: string]: number }): Promise<void> => {
    await waitUntil(
      async (limit) => {
        const { audits } = await askGraphql<{ audits: { nodes: { status: string }[] } }>(
          node.url,
          "{ audits(first: 10) { nodes { status } } }",
          limit,
        );
        const counts = Object.fromEntries(
          Object.entries(Object.groupBy(audits.nodes, ({ status }) => status)).map(([status, them]) => [
            status,
            them?.length ?? 0,
          ]),
        );
        const isSo = Object.entries(wanted).every(([status, count]) => counts[status] === count);
        if (isSo) return true;
        throw new Error(`the audits by status are ${JSON.stringify(counts)}`);
      },
      { what, withinMs: 240_000, signal },
    );
  };
}
