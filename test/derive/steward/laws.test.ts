import { expect } from "chai";
import fc from "fast-check";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Address } from "tallystick-protocol/address";
import { DAY, EventLog, HOUR, wallet } from "../eventLog.ts";
import { derivedStewards } from "../oracle/derivedStewards.ts";
import { stewardLog } from "../oracle/stewardLog.ts";

const RUNS = { numRuns: 12 };
const OF_STEWARD = [
  "attestation",
  "uptime",
  "monitoring",
  "endorsement",
  "sla",
  "sla_dispute",
  "sla_ruling",
  "sla_payment",
];
const guarantee = {
  metric: "success_rate",
  target: "1",
  measurement_window: "7 days",
  breach_threshold: "1",
  penalty: { type: "temporary_suspension", duration: "90 days" },
};

/** The log, in which each agent also publishes an SLA that promises more than the agent keeps. */
function withPromises(log: EventLog): EventLog {
  for (let n = 1; n <= 7; n++) {
    const agent = wallet(n);
    log.record("sla", agent, { agent_id: agent, version: "1", guarantees: [guarantee], issued_at: log.time });
  }
  log.after(DAY);
  for (let n = 0; n < 25; n++) log.hire(wallet(1), wallet(400 + n), { passed: n % 2 === 0 });
  return log
    .after(4 * HOUR)
    .tick()
    .after(8 * DAY)
    .tick();
}

const stewards = async (log: EventLog) => derivedStewards((await log.derive()).store);

/** The digest's tree of SHP: all its nodes after the log, and its root at every tick. */
function shpDigests(store: MemoryStore) {
  const nodes = [...store.rows("digestNode").values()].filter(({ id }) => !id.startsWith("s"));
  const roots = [...store.rows("digest").values()].map(({ block, root }) => [block, root]);
  return { nodes: new Map(nodes.map(({ id, children }) => [id, children])), roots };
}

describe("laws of the trust score", () => {
  it("no record of the trust score changes any field, cluster or tier of SHP, or any node of the digest's tree of SHP", async () => {
    let [breaches, scored] = [0, 0];
    await fc.assert(
      fc.asyncProperty(stewardLog, async (generated) => {
        const log = withPromises(generated);
        const { store, digest: _d, ...full } = await log.derive();
        const without = new EventLog();
        const left = log.events.filter((it) => it.kind !== "record" || !OF_STEWARD.includes(it.type));
        without.events.splice(0, 1, ...left);
        const { store: bare, digest: _e, ...rest } = await without.derive();
        expect(rest).to.deep.equal(full);
        expect(shpDigests(bare)).to.deep.equal(shpDigests(store));
        breaches += store.rows("breach").size;
        const last = (it: MemoryStore) => [...it.rows("digest").values()].at(-1)?.stewardRoot;
        if (last(store) !== last(bare)) scored++;
      }),
      RUNS,
    );
    expect(breaches, "promises that were broken").to.be.greaterThan(0);
    expect(scored, "logs whose trust scores differ").to.be.greaterThan(0);
  });

  it("endorsements of an agent change only the agent's own score, also if the agent endorses others", async () => {
    await fc.assert(
      fc.asyncProperty(stewardLog, fc.integer({ min: 1, max: 7 }), async (log, n) => {
        const fresh = Array.from({ length: 3 }, (_, at) => wallet(500 + at));
        for (const [at, agent] of fresh.entries()) {
          log.listing(agent, `custom.fresh${at}`, { price_usdc: String(2 ** (at + 12)) });
          log.hire(agent, wallet(600 + at));
        }
        log.after(31 * DAY);
        const end = (it: EventLog) => it.after(6 * HOUR).tick();
        const plain = end(copyOf(log));
        for (const endorser of fresh) endorse(log, endorser, wallet(n));
        const [before, after] = [await stewards(plain), await stewards(end(log))];
        delete before[wallet(n)];
        delete after[wallet(n)];
        expect(after).to.deep.equal(before);
      }),
      RUNS,
    );
  });

  it("no record of a stranger changes a score", async () => {
    await fc.assert(
      fc.asyncProperty(stewardLog, async (log) => {
        const stranger = wallet(900);
        // In both logs the stranger is an agent, and has a host that other agents have too.
        log.listing(stranger, "custom.stranger", {
          endpoint: "https://h0.example/hire",
          price_usdc: "70000",
        });
        const plain = copyOf(log);
        const hour = Math.floor(log.time / HOUR) - 1;
        for (let n = 1; n <= 7; n++) {
          const agent = wallet(n);
          const by = (type: string, body: Parameters<EventLog["record"]>[2]) =>
            log.record(type, stranger, body);
          by("endorsement", { endorser: stranger, agent_id: agent, issued_at: log.time });
          by("sla", { agent_id: agent, version: "1", guarantees: [guarantee], issued_at: log.time });
          by("attestation", {
            agent_id: agent,
            version: "1",
            commit: "00".repeat(20),
            runs: [
              {
                passing: 0,
                total: 9,
                flaky: 0,
                report_hash: `0x${"00".repeat(32)}`,
                outcomes_hash: `0x${"00".repeat(32)}`,
              },
            ],
            ran_at: log.time,
          });
          by("uptime", {
            hour,
            region: "x",
            part: n,
            hosts: Object.fromEntries([0, 1, 2].map((host) => [`h${host}.example:443`, [4095, 4095]])),
            served: { [agent]: ["h0.example:443"] },
          });
          by("monitoring", {
            ...{ day: Math.floor(log.time / DAY), part: n },
            agents: {
              [agent]: { endpoint: "https://h0.example/sla", asked_at: log.time, differences: [] },
            },
          });
          by("sla_ruling", { breach: `brch_${"0".repeat(26)}`, ruling: "upheld", reasons: "x" });
        }
        const own = async (it: EventLog) => {
          const rows = await stewards(it.after(6 * HOUR).tick());
          delete rows[stranger];
          return rows;
        };
        expect(await own(log)).to.deep.equal(await own(plain));
      }),
      RUNS,
    );
  });
});

function copyOf(log: EventLog): EventLog {
  const copy = new EventLog();
  copy.events.splice(0, 1, ...log.events);
  return Object.assign(copy, { time: log.time, block: log.block });
}

function endorse(log: EventLog, endorser: Address, agent: Address): void {
  const word = { endorser, agent_id: agent, issued_at: log.time, agent_signature: "0x01" };
  log.record("endorsement", endorser, word);
}
