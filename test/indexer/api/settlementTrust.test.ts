import { expect } from "chai";
import * as schema from "../../../indexer/ponder.schema.ts";
import { SELLER } from "../../derive/auditScene.ts";
import { EventLog, HOUR, START, wallet } from "../../derive/eventLog.ts";
import { type AuditStory, openAuditStory } from "../support/auditStory.ts";

const STRANGER = wallet(7_777);

describe("the API: settlement's trust", () => {
  let story: AuditStory;
  before(async () => {
    story = await openAuditStory();
    const log = new EventLog({ operator: wallet(20) }).after(2 * HOUR);
    const outcome = (ok: number, fail: number, divergence = { compared: 0, sum: 0 }) => ({
      ...{ ok, fail, c: { ok: ok * 1_000, fail: fail * 250 }, divergence },
    });
    log.record("outcomes", wallet(20), {
      hour: START / HOUR,
      part: 0,
      agents: { [SELLER]: outcome(23, 0, { compared: 3, sum: 100_000 }), [STRANGER]: outcome(1, 2) },
    });
    const { store } = await log.derive();
    await story.database.database
      .insert(schema.settlementTrust)
      .values([...store.rows("settlementTrust").values()]);
  });
  after(() => story.database.pool.query("DELETE FROM settlement_trust"));

  const figures = {
    ...{ trust: 0.790545956, level: "provisional", percentile: 0.823879289, mean_divergence: 0.033333333 },
    ...{ settled: 23, rejected: 0, settled_complexity: 23, rejected_complexity: 0, compared: 3 },
    last_hour: START / HOUR,
  };

  it("is given by REST as the operator's word, also for addresses that are not agents of SHP", async () => {
    const get = (agent: string) => story.app.request(`/v1/agents/${agent}/settlement-trust`);
    const response = await get(SELLER);
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.equal({ agent_id: SELLER, source: "operator", ...figures });
    expect(await (await get(STRANGER)).json()).to.deep.include({
      ...{ level: "untrusted", settled: 1, rejected: 2, rejected_complexity: 0.5, mean_divergence: null },
    });
    const none = await get(wallet(7_778));
    expect([none.status, ((await none.json()) as { code: string }).code]).to.deep.equal([
      404,
      "unknown_agent",
    ]);
    expect((await get("nobody")).status).to.equal(400);
  });

  it("is a field of an agent in GraphQL, null for agents without reports", async () => {
    const { seller, other } = await story.ask<{ seller: object; other: object }>(
      `query ($seller: Address!, $other: Address!) {
        seller: agent(address: $seller) { ...trust }
        other: agent(address: $other) { ...trust }
      }
      fragment trust on Agent {
        settlementTrust {
          trust level percentile meanDivergence settled rejected settledComplexity rejectedComplexity compared lastHour
        }
      }`,
      { seller: SELLER, other: wallet(100) },
    );
    expect(seller).to.deep.equal({
      settlementTrust: {
        ...{ trust: figures.trust, level: "PROVISIONAL", percentile: figures.percentile },
        ...{ meanDivergence: figures.mean_divergence, settled: 23, rejected: 0, settledComplexity: 23 },
        ...{ rejectedComplexity: 0, compared: 3, lastHour: figures.last_hour },
      },
    });
    expect(other).to.deep.equal({ settlementTrust: null });
  });
});
