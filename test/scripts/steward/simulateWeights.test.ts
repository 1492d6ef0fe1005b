import { expect } from "chai";
import { foldLog } from "tallystick-derive/foldLog";
import { ownTrustOf, scoreOf, WEIGHTS, type Weights } from "tallystick-derive/steward/score";
import { weightsSetting } from "../../../scripts/steward/readWeights.ts";
import { simulateWeights } from "../../../scripts/steward/simulateWeights.ts";
import { DAY, type EventLog, HOUR, START, TOKEN, wallet } from "../../derive/eventLog.ts";
import { AGENT, attest, endorse, goTo, stewardLog, stewardOf } from "../../derive/steward/stewardScene.ts";

const SELLER = wallet(40);
const ENDORSER = wallet(41);

/** One agent is tested and endorsed, one sells well, and one does both and endorses the first. */
function market(): EventLog {
  const log = stewardLog();
  log.listing(SELLER, "code.review", { price_usdc: "3" });
  log.listing(ENDORSER, "data.extract", { price_usdc: "4" });
  for (const seller of [SELLER, ENDORSER])
    for (let n = 0; n < 4; n++) log.hire(seller, wallet(300 + n), { passed: n > 0 || seller === SELLER });
  goTo(log, START + 31 * DAY);
  log.hire(SELLER, wallet(310));
  log.hire(ENDORSER, wallet(311));
  for (const agent of [AGENT, ENDORSER]) attest(log, { agent_id: agent, by: agent });
  endorse(log, ENDORSER, AGENT);
  return log.after(HOUR).tick();
}

const text = (log: EventLog) => log.events.map((event) => `${JSON.stringify(event)}\n`).join("");
const simulate = (log: EventLog, weights: Weights) =>
  simulateWeights(
    (options) =>
      foldLog(
        (async function* () {
          yield text(log);
        })(),
        { trustSignatures: true, token: TOKEN, ...options },
      ),
    weights,
  );
const weights = (value: string) => weightsSetting.parse(value);

describe("trust scores with other weights", () => {
  it("keep their ranks with the published weights", async () => {
    const published = weights(
      "test_coverage=.3,uptime=.2,success_rate=0.25,endorsements=.15,attestation_freshness=.10",
    );
    expect(await simulate(market(), published)).to.deep.equal({ agents: 3, moved: [] });
  });

  it("rank agents by the factors with the most weight, and weigh the endorsers' words in the same way", async () => {
    const { moved } = await simulate(market(), weights("success_rate=1"));
    const scores = Object.fromEntries(moved.map(({ agent, after }) => [agent, [after.score, after.rank]]));
    expect(scores[SELLER]).to.deep.equal(["1.000000000", 1]);
    expect(scores[AGENT]).to.deep.equal(["0.000000000", 3]);
    expect(moved[0]?.before.rank).to.not.equal(moved[0]?.after.rank);

    // All weight is on endorsements. The worth of an endorser's word comes from its other factors. They have
    // no weight, so its word is worth nothing.
    const alone = await simulate(market(), weights("endorsements=1"));
    expect(alone.moved.map(({ after }) => after.score)).to.deep.equal(Array(3).fill("0.000000000"));

    // Half of the weight is on the success rate. Then the endorser's word is worth its success rate.
    const half = await simulate(market(), weights("success_rate=.5,endorsements=.5"));
    const endorser = await stewardOf(market(), ENDORSER);
    const worth = ownTrustOf(
      {
        ...{ test_coverage: endorser.testCoverage, uptime: 0, success_rate: endorser.successRate },
        ...{ endorsements: 0, attestation_freshness: 0 },
      },
      weights("success_rate=.5,endorsements=.5"),
    );
    expect(worth).to.equal(endorser.successRate);
    const expected = Math.round((worth * 0.17718382013555792) / 2);
    expect(Number(half.moved.find(({ agent }) => agent === AGENT)?.after.score) * 1e9).to.be.closeTo(
      expected,
      1,
    );
  });

  it("equal the algorithm's scores, whatever the sum of the weights is", () => {
    const factors = {
      ...{ test_coverage: 963_446_475, uptime: 990_000_000, success_rate: 980_753_809 },
      ...{ endorsements: 720_865_385, attestation_freshness: 916_666_667 },
    };
    const scaled = Object.fromEntries(Object.entries(WEIGHTS).map(([name, part]) => [name, part * 100]));
    expect(scoreOf(factors, scaled as Weights)).to.equal(scoreOf(factors));
  });

  it("are refused if the weights are not known names, each once, with a sum of 1", () => {
    for (const bad of [
      ...[
        "",
        "uptime=1.1",
        "uptime=.5",
        "uptime=.5,uptime=.5",
        "age=1",
        "uptime=-1",
        "uptime=.33333,endorsements=.66667",
      ],
      ...["uptime=1,success_rate=1", "uptime", "uptime=1e0", "__proto__=1"],
    ])
      expect(weightsSetting.safeParse(bad).success, bad).to.equal(false);
    expect(weights("uptime=1").uptime).to.equal(10_000);
  });
});
