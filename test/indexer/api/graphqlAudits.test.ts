import { expect } from "chai";
import { drawNumber } from "tallystick-derive/audits/drawnPlaces";
import { sha256HexByNoble } from "tallystick-derive/sha256Hex";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../../indexer/ponder.schema.ts";
import { AUDITED, HASHES, POOL, SELLER } from "../../derive/auditScene.ts";
import { wallet } from "../../derive/eventLog.ts";
import { type AuditStory, openAuditStory } from "../support/auditStory.ts";

type Nodes<T> = { nodes: T[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
type Short = { auditedHire: string; status: string };

describe("GraphQL: audits", () => {
  let story: AuditStory;
  before(async () => {
    story = await openAuditStory();
  });

  const rows = () => [...story.store.rows("audit").values()];
  const askedOf = (hire: string) =>
    [...story.store.rows("auditAssignment").values()].filter((it) => it.hire === hire);
  const list = async (args: string): Promise<string[]> => {
    const { audits } = await story.ask<{ audits: Nodes<Short> }>(
      `{ audits(${args}) { nodes { auditedHire status } } }`,
    );
    return audits.nodes.map(({ auditedHire }) => auditedHire);
  };
  const latestFirst = (of: Row<"audit">[]) =>
    of.sort((a, b) => b.eligibleBlock - a.eligibleBlock || (a.id < b.id ? 1 : -1)).map(({ id }) => id);

  it("are listed by the time of eligibility, page by page, in both directions", async () => {
    const found: string[] = [];
    for (let after: string | null = null; ; ) {
      const { audits }: { audits: Nodes<Short> } = await story.ask(
        "query ($after: String) { audits(first: 3, after: $after) { nodes { auditedHire } pageInfo { hasNextPage endCursor } } }",
        { after },
      );
      found.push(...audits.nodes.map(({ auditedHire }) => auditedHire));
      if (!audits.pageInfo.hasNextPage) break;
      after = audits.pageInfo.endCursor;
    }
    expect(found).to.deep.equal(latestFirst(rows()));
    expect(await list("orderDirection: ASC")).to.deep.equal(found.reverse());
  });

  it("are listed by the time of the draw, without those that were not drawn", async () => {
    const drawn = rows().filter((it) => it.drawnBlock !== null);
    expect(drawn).to.have.length(rows().length - 1);
    expect(await list("orderBy: DRAWN, orderDirection: ASC")).to.deep.equal(
      drawn
        .sort((a, b) => Number(a.drawnBlock) - Number(b.drawnBlock) || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id),
    );
    expect(await list("orderBy: DRAWN, where: {status: CHALLENGED}")).to.have.length(2);
  });

  it("are filtered by status", async () => {
    const { rolledBack, dismissed, challenged, passed, undisclosed, assigning, eligible } = story.hires;
    for (const [status, expected] of Object.entries({
      ROLLED_BACK: [rolledBack],
      DISMISSED: [dismissed],
      CHALLENGED: [undisclosed, challenged],
      PASSED: [passed],
      ASSIGNING: [assigning],
      ELIGIBLE: [eligible],
      INCONCLUSIVE: [],
    })) {
      expect(await list(`where: {status: ${status}}`), status).to.deep.equal(expected);
      const { agent } = await story.ask<{ agent: { audits: Nodes<Short> } }>(
        `{ agent(address: "${SELLER}") { audits(status: ${status}) { nodes { auditedHire status } } } }`,
      );
      expect(agent.audits.nodes, status).to.deep.equal(
        expected.map((auditedHire) => ({ auditedHire, status })),
      );
    }
  });

  it("are narrowed by seller, operator, capability and auditor, alone and together", async () => {
    const all = latestFirst(rows());
    expect(await list(`where: {seller: "${SELLER}"}`)).to.deep.equal(all);
    expect(await list(`where: {seller: "${wallet(77)}"}`)).to.deep.equal([]);
    expect(await list(`where: {operator: "${AUDITED}"}`)).to.deep.equal(all);
    expect(await list(`where: {operator: "${wallet(77)}"}`)).to.deep.equal([]);
    expect(await list('where: {capability: "code.review"}')).to.deep.equal([story.hires.assigning]);
    expect(await list('where: {capability: "code.review", status: PASSED}')).to.deep.equal([]);
    const [{ auditor = "" } = {}] = askedOf(story.hires.passed);
    const judged = rows().filter(({ id }) => askedOf(id).some((it) => it.auditor === auditor));
    expect(await list(`where: {auditor: "${auditor}"}`)).to.deep.equal(latestFirst(judged));
    expect(await list(`where: {auditor: "${auditor}", status: PASSED}`)).to.deep.equal([story.hires.passed]);
  });

  it("show the auditors of each round, their verdicts with reasons, and the hash that drew them", async () => {
    const id = story.hires.rolledBack;
    const { audit } = await story.ask<{ audit: Record<string, never> }>(
      `query ($id: ID!) { audit(id: $id) {
        id auditedHire status operator sellerAddress capability amountUsdc paramsHash resultHash cause ratePpm isDisclosed isCounted
        receipt { hash challenged audit { id } } hire { outcome evidence audit { id } } listing { endpoint paymentMode }
        draw { block tickHash words number }
        rounds { round verdict attempts { id round attempt auditorAddress auditor { trustTier } auditorType endpointHost
          assignedAt due tickHash passedOver verdict verdictTime reasonCodes reasons { code detail } clusters { address clusters } } } } }`,
      { id },
    );
    const row = story.store.rows("audit").get(id) as Row<"audit">;
    const asked = askedOf(id);
    expect(audit).to.deep.include({
      id: `${id}-audit`,
      auditedHire: id,
      status: "ROLLED_BACK",
      operator: AUDITED,
      sellerAddress: SELLER,
      capability: "text.translate",
      amountUsdc: "0.50",
      paramsHash: HASHES.params_hash,
      resultHash: HASHES.result_hash,
      cause: "SAMPLE",
      ratePpm: 1_000_000,
      isDisclosed: true,
      isCounted: true,
      receipt: { hash: row.receipt, challenged: false, audit: { id: `${id}-audit` } },
      hire: { outcome: "FAILURE", evidence: "AUDIT", audit: { id: `${id}-audit` } },
      listing: { endpoint: `https://${SELLER}.example`, paymentMode: "direct" },
    });
    const tick = story.log.events.find((it) => it.kind === "tick" && it.block === row.drawnBlock);
    const hash = (tick as { hash: string }).hash;
    const words = `tallystick/audit/sample/v1 ${hash} ${AUDITED} 1000000`;
    const number = Number(drawNumber(sha256HexByNoble, words.split(" ")) % 1_000_000n);
    expect(audit.draw).to.deep.equal({ block: row.drawnBlock, tickHash: hash, words, number });
    const [first, second] = asked as [Row<"auditAssignment">, Row<"auditAssignment">];
    const told = (it: Row<"auditAssignment">, tickHash: string) => ({
      id: it.id,
      round: it.round,
      attempt: 1,
      auditorAddress: it.auditor,
      auditor: { trustTier: 2 },
      auditorType: "AUDITOR",
      endpointHost: it.host,
      assignedAt: it.time,
      due: it.time + 86_400,
      tickHash,
      passedOver: [],
      verdict: "FAIL",
      verdictTime: it.verdictTime,
      reasonCodes: ["fabricated"],
      reasons: [{ code: "fabricated", detail: 'rolledBack: "ü" {}' }],
      clusters: [it.auditor, row.buyer, row.seller].map((address) => ({ address, clusters: [] })),
    });
    const hashAt = (block: number) =>
      (story.log.events.find((it) => it.kind === "tick" && it.block === block) as { hash: string }).hash;
    expect(audit.rounds).to.deep.equal([
      { round: 1, verdict: "FAIL", attempts: [told(first, hash)] },
      { round: 2, verdict: "FAIL", attempts: [told(second, hashAt(second.block))] },
    ]);
  });

  it("are found by their own id, by the hire's id, by the escrow's id, and with the field `node`", async () => {
    const [escrowed] = rows().filter(({ id }) => !id.includes("-"));
    const ids = rows().flatMap(({ id }) => [id, `${id}-audit`, ...(id.includes("-") ? [] : [`${id}-hire`])]);
    for (const id of ids) {
      const { audit } = await story.ask<{ audit: Short }>(
        "query ($id: ID!) { audit(id: $id) { auditedHire } }",
        { id },
      );
      expect(audit.auditedHire).to.equal(id.replace(/-(audit|hire)$/, ""));
    }
    const asked = askedOf(escrowed?.id ?? "")[0]?.id;
    for (const [id, type] of [
      [`${story.hires.passed}-audit`, "Audit"],
      [`${escrowed?.id}-audit`, "Audit"],
      [asked, "AuditAssignment"],
      [`${AUDITED}/${wallet(101)}`, "Auditor"],
    ]) {
      const { node } = await story.ask<{ node: object }>(
        "query ($id: ID!) { node(id: $id) { id __typename } }",
        { id },
      );
      expect(node, type).to.deep.equal({ id, __typename: type });
    }
    // The hire does not count while the escrow holds the money. So the listing is found through the escrow.
    const { audit } = await story.ask<{ audit: object }>(
      "query ($id: ID!) { audit(id: $id) { hire { id } listing { paymentMode } } }",
      { id: escrowed?.id },
    );
    expect(audit).to.deep.equal({
      hire: null,
      listing: { paymentMode: "platform_escrow:swarmwage-partnered" },
    });
  });

  it("show that a receipt is challenged, and why the audit of an undisclosed hire failed", async () => {
    for (const [name, reason] of [
      ["challenged", null],
      ["undisclosed", "undisclosed"],
    ] as const) {
      const { audit } = await story.ask<{ audit: object }>(
        "query ($id: ID!) { audit(id: $id) { reason isDisclosed receipt { challenged paramsHash } rounds { round } } }",
        { id: story.hires[name] },
      );
      expect(audit).to.deep.include({
        reason,
        isDisclosed: reason === null,
        receipt: { challenged: true, paramsHash: reason === null ? HASHES.params_hash : null },
      });
    }
  });

  it("show each auditor's open assignments apart from those that are over", async () => {
    const open = rows()
      .filter(({ status }) => status === "assigned")
      .map(({ id }) => askedOf(id).at(-1) as Row<"auditAssignment">);
    expect(open).to.have.length(3);
    for (const { auditor, id, time } of open) {
      const query = `query ($auditor: Address!) {
        auditAssignments(where: {auditor: $auditor, open: true}) { nodes { id } }
        rest: auditAssignments(where: {auditor: $auditor, open: false}) { nodes { id } }
        agent(address: $auditor) { auditAssignments(open: true) { nodes { id due audit { status } } } } }`;
      type Found = Nodes<{ id: string }>;
      const answer = await story.ask<{
        auditAssignments: Found;
        rest: Found;
        agent: { auditAssignments: Found };
      }>(query, { auditor });
      const own = open.filter((it) => it.auditor === auditor).map((it) => it.id);
      expect(answer.auditAssignments.nodes.map((it) => it.id)).to.have.members(own);
      expect(answer.agent.auditAssignments.nodes).to.deep.include({
        ...{ id, due: time + 86_400 },
        audit: { status: "ASSIGNED" },
      });
      expect([...answer.rest.nodes.map((it) => it.id), ...own]).to.have.members(
        [...story.store.rows("auditAssignment").values()]
          .filter((it) => it.auditor === auditor)
          .map((it) => it.id),
      );
    }
  });

  it("have auditors with and without places on rosters", async () => {
    const query = `query ($where: AuditorFilter) { auditors(where: $where) { nodes {
      address operator active capabilities endpoint assigned answered unansweredInARow rosters { capability place size } } } }`;
    type ListedAuditor = {
      address: string;
      rosters: { place: number | null; size: number }[];
      assigned: number;
    };
    const ask = async (where: object) =>
      (await story.ask<{ auditors: Nodes<ListedAuditor> }>(query, { where })).auditors.nodes;
    const all = await ask({ operator: AUDITED });
    expect(all.map(({ address }) => address)).to.deep.equal(
      Array.from({ length: 9 }, (_, n) => wallet(100 + n)),
    );
    const places = all.flatMap(({ rosters }) => rosters.map(({ place, size }) => `${place}/${size}`));
    expect(places).to.have.members(Array.from({ length: 8 }, (_, n) => `${n}/8`));
    for (const { address, assigned } of all) {
      const row = story.store.rows("auditor").get(`${AUDITED}/${address}`);
      expect(assigned).to.equal(row?.assigned);
    }
    expect(await ask({ active: false })).to.have.length(1);
    for (const wanted of [true, false])
      expect(
        (await ask({ operator: AUDITED, assigned: wanted })).map(({ address }) => address),
      ).to.deep.equal(all.filter(({ assigned }) => assigned > 0 === wanted).map(({ address }) => address));
    expect(await ask({ capability: "text.translate", active: true })).to.have.length(8);
    expect(await ask({ capability: "text.trans" })).to.deep.equal([]);
    expect(await ask({ agent: wallet(103), operator: AUDITED })).to.have.length(1);
    const { agent } = await story.ask<{ agent: object }>(
      `{ agent(address: "${wallet(103)}") { auditorOffers { nodes { id operator } } } }`,
    );
    expect(agent).to.deep.equal({
      auditorOffers: { nodes: [{ id: `${AUDITED}/${wallet(103)}`, operator: AUDITED }] },
    });
  });

  it("have an actuation log with the decisions that count, and their reasons", async () => {
    const { auditActuations } = await story.ask<{ auditActuations: Nodes<object> }>(
      `{ auditActuations { nodes { operator auditedHire decision reasons { code detail } audit { status decisionRecord }
         entry { hash record { valid type } } hash } } }`,
    );
    const reasons = [{ code: "fabricated", detail: "Seen by eye." }];
    const told = (hire: string, decision: string, status: string) => {
      const hash = story.store.rows("audit").get(hire)?.decisionRecord;
      const entry = { hash, record: { valid: true, type: "audit_actuation" } };
      return {
        ...{ operator: AUDITED, auditedHire: hire, decision, reasons, hash },
        ...{ audit: { status, decisionRecord: hash }, entry },
      };
    };
    expect(auditActuations.nodes).to.deep.equal([
      told(story.hires.dismissed, "DISMISS", "DISMISSED"),
      told(story.hires.rolledBack, "ROLLBACK", "ROLLED_BACK"),
    ]);
  });

  it("follow published parameters", async () => {
    const { params } = await story.ask<{ params: { audit: object } }>(
      `{ params { audit { operators { address pool } ratePpm rates { capability ppm } recheckPpm verdictSeconds
        contestedMinUsdc matureShare { numerator denominator } fees { fromUsdc feeUsdc } bountyMultiplier } } }`,
    );
    expect(params.audit).to.deep.equal({
      operators: [{ address: AUDITED, pool: POOL }],
      ratePpm: 1_000_000,
      rates: [],
      recheckPpm: 0,
      verdictSeconds: 86_400,
      contestedMinUsdc: "0.10",
      matureShare: { numerator: 2, denominator: 5 },
      fees: [{ fromUsdc: "0.00", feeUsdc: "0.005" }],
      bountyMultiplier: 3,
    });
  });

  it("explain a seller's pass rate (passed hires divided by passed and rolled back hires), and list these hires", async () => {
    const { agent } = await story.ask<{ agent: object }>(
      `{ agent(address: "${SELLER}") { auditPassRate explain(field: AUDIT_PASS_RATE) {
        value numerator denominator source audits { nodes { auditedHire status } } hires { nodes { id } } } } }`,
    );
    expect(agent).to.deep.equal({
      auditPassRate: 0.5,
      explain: {
        ...{ value: 0.5, numerator: "1", denominator: "2", source: ["audit"], hires: null },
        audits: {
          nodes: [
            { auditedHire: story.hires.passed, status: "PASSED" },
            { auditedHire: story.hires.rolledBack, status: "ROLLED_BACK" },
          ],
        },
      },
    });
  });

  it("show what their operator's pool owes, the decided and open audits, and how mature capabilities are", async () => {
    const { auditOperator, auditOperators, auditModes, auditModeChanges, auditors } = await story.ask<{
      auditOperator: object;
      auditOperators: Nodes<object>;
      auditModes: Nodes<object>;
      auditModeChanges: Nodes<object>;
      auditors: Nodes<{ accruedUsdc: string; owedUsdc: string; paidUsdc: string }>;
    }>(`{ auditOperator(address: "${AUDITED}") { address drawn passed failed undisclosed rolledBack dismissed unassigned
        accruedUsdc paidUsdc owedUsdc periods { nodes { accruedUsdc } } canaryLists { nodes { commitment } } }
      auditOperators { nodes { address drawn failed } }
      auditModes(operator: "${AUDITED}") { nodes { capability mode } } auditModeChanges { nodes { to } }
      auditors(where: {operator: "${AUDITED}"}) { nodes { accruedUsdc owedUsdc paidUsdc judged wrongFails barredUntil
        rosters { mode } errors { nodes { capability goodPassed { count of interval } } } } } }`);
    const row = story.store.rows("auditOperator").get(AUDITED) as Row<"auditOperator">;
    const { drawn, passed, failed, undisclosed, rolledBack, dismissed, unassigned } = row;
    expect(auditOperator).to.deep.include({
      ...{ address: AUDITED, drawn, passed, failed, undisclosed, rolledBack, dismissed, unassigned },
      ...{ paidUsdc: "0.00", canaryLists: { nodes: [] } },
    });
    expect(auditOperators.nodes).to.deep.equal([{ address: AUDITED, drawn, failed }]);
    expect({ failed, undisclosed, rolledBack, dismissed }).to.deep.equal({
      ...{ failed: 3, undisclosed: 1, rolledBack: 1, dismissed: 1 },
    });
    const micro = (usdc: string) => Math.round(Number(usdc) * 1e6);
    const accrued = auditors.nodes.reduce((sum, it) => sum + micro(it.accruedUsdc), 0);
    expect(accrued).to.equal(Number(row.accrued)).and.to.be.above(0);
    expect(auditModes.nodes).to.deep.include({ capability: "text.translate", mode: "BOOTSTRAP" });
    expect(auditModeChanges.nodes).to.deep.equal([]);
  });

  it("show an auditor's right verdicts on arranged hires, with the confidence interval of their share", async () => {
    const auditor = wallet(103);
    await story.database.database.insert(schema.auditorError).values({
      ...{ id: `${AUDITED}/${auditor}/text.translate`, operator: AUDITED, auditor },
      ...{ capability: "text.translate", good: 20, goodPassed: 19, bad: 0, badFailed: 0 },
    });
    const { agent } = await story.ask<{ agent: object }>(
      `{ agent(address: "${auditor}") { auditorOffers { nodes { errors { nodes {
        capability goodPassed { count of interval } badFailed { count of interval } } } } } } }`,
    );
    const [error] = (agent as { auditorOffers: Nodes<{ errors: Nodes<object> }> }).auditorOffers.nodes;
    // This interval is the result of R's binom.test(19, 20), rounded outwards.
    expect(error?.errors.nodes).to.deep.equal([
      {
        capability: "text.translate",
        goodPassed: { count: 19, of: 20, interval: [0.751267, 0.998735] },
        badFailed: { count: 0, of: 0, interval: [0, 1] },
      },
    ]);
  });

  it("with the cause HISTORY are separate audits; these and contested audits wait for no decision", async () => {
    const { dismissed, challenged } = story.hires;
    const { pool } = story.database;
    await pool.query(
      `INSERT INTO audit SELECT r.* FROM audit a, LATERAL jsonb_populate_record(null::audit, to_jsonb(a) || jsonb_build_object(
        'id', a.id || '/history', 'cause', 'history', 'decision', null, 'decision_record', null)) r WHERE a.id = $1`,
      [dismissed],
    );
    await pool.query("UPDATE audit SET cause = 'contested' WHERE id = $1", [challenged]);
    try {
      const { audit } = await story.ask<{ audit: object }>(
        "query ($id: ID!) { audit(id: $id) { history { id auditedHire status cause rounds { round } history { id } } } }",
        { id: dismissed },
      );
      const history = {
        id: `${dismissed}-history`,
        auditedHire: dismissed,
        status: "FAILED",
        cause: "HISTORY",
      };
      expect(audit).to.deep.equal({ history: { ...history, rounds: [], history: null } });
      const found = await story.ask<{ node: object; audit: object }>(
        "query ($id: ID!) { node(id: $id) { id } audit(id: $id) { cause draw { words } } }",
        { id: `${dismissed}-history` },
      );
      expect(found).to.deep.equal({ node: { id: history.id }, audit: { cause: "HISTORY", draw: null } });
      expect(await list("where: {status: FAILED}")).to.have.members([dismissed, challenged]);
      expect(await list("where: {status: CHALLENGED}")).to.deep.equal([story.hires.undisclosed]);
      const { receipt } = await story.ask<{ receipt: object }>(
        "query ($hash: String!) { receipt(hash: $hash) { challenged audit { cause draw { words tickHash } } } }",
        { hash: story.store.rows("audit").get(challenged)?.receipt },
      );
      expect(receipt).to.deep.include({ challenged: false });
    } finally {
      await pool.query("DELETE FROM audit WHERE id LIKE '%/history'");
      await pool.query("UPDATE audit SET cause = 'sample' WHERE id = $1", [challenged]);
    }
  });
});
