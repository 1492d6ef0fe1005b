import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseNoticeSubscription } from "tallystick-protocol/notices/noticeSubscription";
import { parseAttestation } from "tallystick-protocol/records/attestation";
import { parseAuditor } from "tallystick-protocol/records/auditor";
import { parseEndorsement } from "tallystick-protocol/records/endorsement";
import { parseMonitoring } from "tallystick-protocol/records/monitoring";
import { parseOutcomes } from "tallystick-protocol/records/outcomes";
import { parseParams } from "tallystick-protocol/records/params";
import { parseSla } from "tallystick-protocol/records/sla";
import { parseUptime } from "tallystick-protocol/records/uptime";

/** The wrong fields and what is wrong with them; empty for a body that is accepted. */
function faults(read: (body: RecordBody) => unknown, fields: object): string[] {
  try {
    read({ type: "any", ledger: "local", ...fields } as RecordBody);
    return [];
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return (error as InvalidInputError).issues.map(({ field, message }) => `${field}: ${message}`);
  }
}

const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
/** `count` keys of one form, each with the same value. */
const many = (count: number, key: (n: number) => string, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [key(n), value]));
const hash = `0x${"ab".repeat(32)}`;
const agent = addressOf(1);

type Row = [what: string, fields: object, ...faults: string[]];

const attestation = (run: object) => ({
  agent_id: agent,
  version: "1",
  commit: "ab".repeat(20),
  runs: [{ passing: 1, total: 1, flaky: 0, report_hash: hash, outcomes_hash: hash, ...run }],
  ran_at: 0,
});
const tooFew = "body.runs.0.total: must not be less than passing, flaky and without_assertions together";

const auditor = (capabilities: string[]) => ({
  agent_id: agent,
  operator: agent,
  capabilities,
  endpoint: "https://a.example",
  active: true,
  issued_at: 0,
});

const endorsement = (more: object) => ({ endorser: agent, agent_id: addressOf(2), issued_at: 0, ...more });

const subscription = (agents: string[]) => ({ buyer: agent, url: "https://b.example", agents, issued_at: 0 });

const difference = (metric: string, window: string) => ({
  metric,
  measurement_window: window,
  measured: "0.9",
  claimed: null,
});
const monitored = (...differences: object[]) => ({
  endpoint: "https://a.example",
  asked_at: 0,
  differences,
});
const monitoring = (agents: object) => ({ day: 1, part: 0, agents });

const outcome = (more: object) => ({
  ok: 2,
  fail: 1,
  c: { ok: 2_000, fail: 1_000 },
  divergence: { compared: 3, sum: 3_000_000 },
  ...more,
});
const outcomes = (agents: object) => ({ hour: 1, part: 0, agents });
const ofOne = (more: object) => outcomes({ [agent]: outcome(more) });
const at = `body.agents.${agent}`;

const penalty = { type: "trust_score_reduction", amount: "0.05" };
const guarantee = (more: object) => ({
  metric: "uptime",
  target: "0.99",
  measurement_window: "7 days",
  breach_threshold: "0.9",
  penalty,
  ...more,
});
const latency = (more: object) =>
  guarantee({
    metric: "latency_p50",
    unit: "milliseconds",
    target: "500",
    breach_threshold: "500",
    ...more,
  });
const sla = (...guarantees: object[]) => ({ agent_id: agent, version: "1", guarantees, issued_at: 0 });
const costing = (more: object) => sla(guarantee({ penalty: more }));
const suspension = (duration: string) => costing({ type: "temporary_suspension", duration });
const money = (amount: string) => costing({ type: "financial", amount, currency: "USDC" });
const badges = (...revoke: string[]) => costing({ type: "badge_revocation", revoke });
const days = 'body.guarantees.0.penalty.duration: must be "1 days" to "90 days"';

const uptime = (more: object) => ({ hour: 1, region: "eu", part: 0, hosts: {}, served: {}, ...more });
const looked = (...slots: number[]) => uptime({ hosts: { "a.example:443": slots } });
const host = (n: number) => `h${n}.example:443`;

const fees = (...from: string[]) => ({
  audit: { fees: from.map((fromAtomic) => ({ fromAtomic, feeAtomic: "1" })) },
});
const order = "body.audit.fees: must be in ascending order of fromAtomic";
const steward = (more: object) => ({ steward: more });
const difficulty = (text: string) => steward({ difficulty: { "text.any": text } });
const share = (numerator: number, denominator: number) => ({ numerator, denominator });

const tables: { [type: string]: [read: (body: RecordBody) => unknown, rows: Row[]] } = {
  attestation: [
    parseAttestation,
    [
      ["all tests passed", attestation({})],
      ["flaky tests next to those that passed", attestation({ flaky: 1, total: 2 })],
      ["flaky tests among those that passed", attestation({ flaky: 1 }), tooFew],
      ["all three kinds of tests", attestation({ flaky: 1, without_assertions: 1, total: 3 })],
      ["fewer tests than of all three kinds", attestation({ without_assertions: 1 }), tooFew],
      ["more tests than those of the three kinds", attestation({ total: 9 })],
      ["no tests at all", attestation({ passing: 0, total: 0 })],
    ],
  ],
  auditor: [
    parseAuditor,
    [
      ["32 capabilities", auditor(Array.from({ length: 32 }, (_, n) => `text.n${n}`))],
      [
        "a capability twice",
        auditor(["text.a", "text.b", "text.a"]),
        "body.capabilities: must not name a capability twice",
      ],
    ],
  ],
  endorsement: [
    parseEndorsement,
    [
      ["an agent's signature", endorsement({ agent_signature: "0xab" })],
      [
        "a signature without bytes",
        endorsement({ agent_signature: "0x" }),
        "body.agent_signature: must be 0x and an even number of hex digits",
      ],
      [
        "a signature that is not hex",
        endorsement({ agent_signature: "0xag" }),
        "body.agent_signature: must be 0x and an even number of hex digits",
      ],
    ],
  ],
  "notice subscription": [
    parseNoticeSubscription,
    [
      ["no agents", subscription([])],
      ["two agents", subscription([addressOf(1), addressOf(2)])],
      [
        "an agent twice",
        subscription([addressOf(1), addressOf(2), addressOf(1)]),
        "body.agents: must not name an agent twice",
      ],
    ],
  ],
  monitoring: [
    parseMonitoring,
    [
      ["no agents", monitoring({}), "body.agents: must have at least one agent"],
      ["100 agents", monitoring(many(100, addressOf, monitored()))],
      [
        "101 agents",
        monitoring(many(101, addressOf, monitored())),
        "body.agents: must have at most 100 agents",
      ],
      [
        "one metric in two windows, and two metrics in one window",
        monitoring({
          [agent]: monitored(
            difference("uptime", "7 days"),
            difference("uptime", "30 days"),
            difference("success_rate", "7 days"),
          ),
        }),
      ],
      [
        "one metric twice in one window",
        monitoring({ [agent]: monitored(difference("uptime", "7 days"), difference("uptime", "7 days")) }),
        `${at}.differences: must not have two guarantees of one metric and window`,
      ],
    ],
  ],
  outcomes: [
    parseOutcomes,
    [
      ["the highest sums", ofOne({})],
      ["no agents", outcomes({}), "body.agents: must have at least one agent"],
      ["256 agents", outcomes(many(256, addressOf, outcome({})))],
      [
        "257 agents",
        outcomes(many(257, addressOf, outcome({}))),
        "body.agents: must have at most 256 agents",
      ],
      [
        "only settled proposals",
        ofOne({ fail: 0, c: { ok: 1, fail: 0 }, divergence: { compared: 2, sum: 0 } }),
      ],
      [
        "only rejected proposals",
        ofOne({ ok: 0, c: { ok: 0, fail: 1 }, divergence: { compared: 1, sum: 0 } }),
      ],
      [
        "no proposals",
        ofOne({ ok: 0, fail: 0, c: { ok: 0, fail: 0 }, divergence: { compared: 0, sum: 0 } }),
        `${at}.ok: must not be 0 when fail is`,
      ],
      [
        "more complexity than the settled tasks can have",
        ofOne({ c: { ok: 2_001, fail: 0 } }),
        `${at}.c.ok: must be at most 1000 for each task`,
      ],
      [
        "more complexity than the rejected tasks can have",
        ofOne({ c: { ok: 0, fail: 1_001 } }),
        `${at}.c.fail: must be at most 1000 for each task`,
      ],
      [
        "more comparisons than proposals",
        ofOne({ divergence: { compared: 4, sum: 0 } }),
        `${at}.divergence.compared: must not be more than ok and fail together`,
      ],
      [
        "more divergence than the comparisons can have",
        ofOne({ divergence: { compared: 2, sum: 2_000_001 } }),
        `${at}.divergence.sum: must be at most 1000000 for each comparison`,
      ],
    ],
  ],
  sla: [
    parseSla,
    [
      ["no guarantees", sla()],
      ["a share whose breach begins at its target", sla(guarantee({ breach_threshold: "0.990" }))],
      [
        "a share whose breach begins above its target",
        sla(guarantee({ breach_threshold: "0.990000001" })),
        "body.guarantees.0.breach_threshold: must not be above the target",
      ],
      ["a share of one", sla(guarantee({ target: "1" }))],
      [
        "a share above one",
        sla(guarantee({ target: "1.000000001" })),
        "body.guarantees.0.target: must not be above 1",
      ],
      ["a latency whose breach begins at its target", sla(latency({}))],
      [
        "a latency whose breach begins below its target",
        sla(latency({ breach_threshold: "499.999999999" })),
        "body.guarantees.0.breach_threshold: must not be below the target",
      ],
      [
        "guarantees that differ in metric or window",
        sla(
          guarantee({}),
          guarantee({ measurement_window: "30 days" }),
          guarantee({ metric: "success_rate" }),
          latency({}),
        ),
      ],
      [
        "two guarantees of one metric and window",
        sla(guarantee({}), guarantee({ target: "1" })),
        "body.guarantees: must not have two guarantees of one metric and window",
      ],
      ["a suspension of one day", suspension("1 days")],
      ["a suspension of 90 days", suspension("90 days")],
      ["a suspension of 91 days", suspension("91 days"), days],
      ["a suspension of 100 days", suspension("100 days"), days],
      ["a suspension of no days", suspension("0 days"), days],
      ["a suspension with another word in front", suspension("in 7 days"), days],
      ["a suspension with another word behind", suspension("7 days long"), days],
      ["a suspension in weeks", suspension("2 weeks"), days],
      ["the smallest payment", money("0.000001")],
      ["a payment of round hundreds", money("100")],
      ["a payment of nothing", money("0"), "body.guarantees.0.penalty.amount: must be above 0"],
      [
        "a payment of nothing with decimals",
        money("0.00"),
        "body.guarantees.0.penalty.amount: must be above 0",
      ],
      ["two badges", badges("verified", "sla_compliant")],
      [
        "a badge twice",
        badges("verified", "verified"),
        "body.guarantees.0.penalty.revoke: must not name a badge twice",
      ],
      ["the smallest cost of score", costing({ ...penalty, amount: "0.000000001" })],
      ["the whole score", costing({ ...penalty, amount: "1" })],
      [
        "nothing of the score",
        costing({ ...penalty, amount: "0.0" }),
        "body.guarantees.0.penalty.amount: must be above 0",
      ],
      [
        "more than the whole score",
        costing({ ...penalty, amount: "1.1" }),
        "body.guarantees.0.penalty.amount: must not be above 1",
      ],
    ],
  ],
  uptime: [
    parseUptime,
    [
      ["a host that was down whenever it was looked at", looked(0b101, 0b101)],
      ["a host that was up", looked(0xfff, 0)],
      [
        "a host that was down when nobody looked",
        looked(0b101, 0b110),
        "body.hosts.a.example:443: must be down only in slots in which it looked",
      ],
      ["1,000 hosts", uptime({ hosts: many(1_000, host, [1, 0]) })],
      [
        "1,001 hosts",
        uptime({ hosts: many(1_001, host, [1, 0]) }),
        "body.hosts: must have at most 1000 hosts",
      ],
      ["1,000 agents", uptime({ served: many(1_000, addressOf, [host(1)]) })],
      [
        "1,001 agents",
        uptime({ served: many(1_001, addressOf, [host(1)]) }),
        "body.served: must have at most 1000 agents",
      ],
      ["an agent with two hosts", uptime({ served: { [agent]: [host(1), host(2)] } })],
      [
        "an agent with a host twice",
        uptime({ served: { [agent]: [host(1), host(2), host(1)] } }),
        `body.served.${agent}: must not name a host twice`,
      ],
    ],
  ],
  params: [
    parseParams,
    [
      ["a share of all", { fundingShare: share(3, 3) }],
      [
        "a share of more than all",
        { fundingShare: share(4, 3) },
        "body.fundingShare.numerator: must not be more than 1",
      ],
      ["the smallest similarity", { fingerprintSimilarity: share(1, 1_000) }],
      [
        "no similarity",
        { fingerprintSimilarity: share(0, 1_000) },
        "body.fingerprintSimilarity.numerator: must be above 0",
      ],
      ["an auditor that may give all verdicts", { audit: { matureShare: share(5, 5) } }],
      [
        "an auditor that may give more than all verdicts",
        { audit: { matureShare: share(6, 5) } },
        "body.audit.matureShare.numerator: must not be more than 1",
      ],
      ["16 operators of audits", { audit: { operators: many(16, addressOf, { pool: agent }) } }],
      [
        "17 operators of audits",
        { audit: { operators: many(17, addressOf, { pool: agent }) } },
        "body.audit.operators: must have at most 16 operators",
      ],
      ["512 rates", { audit: { rates: many(512, (n) => `text.n${n}`, 1) } }],
      [
        "513 rates",
        { audit: { rates: many(513, (n) => `text.n${n}`, 1) } },
        "body.audit.rates: must have at most 512 rates",
      ],
      ["fees in ascending order of numbers", fees("0", "2", "10", "11", "100")],
      ["fees in order of texts", fees("0", "10", "2"), order],
      ["fees with an amount twice", fees("0", "5", "5"), order],
      ["fees in descending order", fees("0", "12", "11"), order],
      ["fees that do not begin at 0", fees("1", "2"), "body.audit.fees: must begin with the band from 0"],
      [
        "no fees",
        fees(),
        "body.audit.fees: must have at least one band",
        "body.audit.fees: must begin with the band from 0",
      ],
      ["the smallest difficulty", difficulty("0.000000001")],
      ["the highest difficulty", difficulty("100")],
      ["no difficulty", difficulty("0"), "body.steward.difficulty.text.any: must be above 0 and at most 100"],
      [
        "more than the highest difficulty",
        difficulty("100.000000001"),
        "body.steward.difficulty.text.any: must be above 0 and at most 100",
      ],
      [
        "a difficulty that is no decimal",
        difficulty("much"),
        'body.steward.difficulty.text.any: must be a decimal string like "0.99", with at most 12 digits before the point and 9 after it, no leading zeros',
      ],
      ["256 difficulties", steward({ difficulty: many(256, (n) => `text.n${n}`, "1") })],
      [
        "257 difficulties",
        steward({ difficulty: many(257, (n) => `text.n${n}`, "1") }),
        "body.steward.difficulty: must have at most 256 capabilities",
      ],
      ["two probers", steward({ probers: [addressOf(1), addressOf(2)] })],
      [
        "a prober twice",
        steward({ probers: [addressOf(1), addressOf(2), addressOf(1)] }),
        "body.steward.probers: must not name an address twice",
      ],
    ],
  ],
};

for (const [type, [read, rows]] of Object.entries(tables)) {
  describe(`the limits of a body: ${type}`, () => {
    for (const [what, fields, ...expected] of rows) {
      it(`${expected.length === 0 ? "accept" : "refuse"} ${what}`, () => {
        expect(faults(read, fields)).to.deep.equal(expected);
      });
    }
  });
}
