import { expect } from "chai";
import type { Uptime } from "tallystick-protocol/records/uptime";
import { type Answer, ask } from "../../services/probing/net/ask.ts";
import { HOUR, START, wallet } from "../derive/eventLog.ts";
import {
  AGENT,
  close,
  goTo,
  monthOf,
  PROBERS,
  reasonsOf,
  stewardLog,
} from "../derive/steward/stewardScene.ts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { behaviours, type LocalHosts, openLocalHosts, terms } from "./support/localHosts.ts";
import { DAY, FIRST_SLOT, listingAt, openTestProber, type TestProber } from "./support/openTestProber.ts";

const OTHER = wallet(3);
const IDLE = wallet(4);

/** The false answer that the lying prober gets: a good host seems down, and a failing host seems up. */
const lie = (status: number): Answer => {
  const headers = terms(AGENT);
  const get = (name: string) => (status === 402 ? null : headers[name]) ?? null;
  return { status: status === 402 ? 500 : 402, headers: { get }, text: "", isCut: false };
};

describe("three probers, one of which lies", () => {
  const folder = suiteFolder();
  let hosts: LocalHosts;

  before(async () => {
    hosts = await openLocalHosts();
  });

  after(() => hosts.close());

  it("give the true result together, because the majority decides", async () => {
    expect(DAY).to.equal(START);
    const at = (n: number) => `127.5.0.${n}:${hosts.port}`;
    const targets = [listingAt(at(1), AGENT), listingAt(at(2), OTHER), listingAt(at(1), IDLE)];
    let isLying = false;
    const open = (name: string, isLiar: boolean): Promise<TestProber> =>
      openTestProber(`${folder.path}/${name}`, targets, {
        ask: async (question) => {
          const answer = await ask(question);
          return isLiar && isLying && question.url.endsWith("/hire") ? lie(answer.status) : answer;
        },
      });
    const probers = [await open("one", false), await open("two", false), await open("three", true)];
    // The first host serves its own agent. It does not serve the agent that only lists this host.
    hosts.set("127.5.0.1", (request, response) => behaviours.good(request, response, AGENT));
    hosts.set("127.5.0.2", behaviours.good);
    for (let slot = 0; slot < 12; slot++) {
      isLying = slot > 0;
      hosts.set("127.5.0.2", slot >= 4 && slot <= 6 ? behaviours.failing : behaviours.good);
      for (const prober of probers) await prober.passSlot(FIRST_SLOT + slot);
    }

    const log = stewardLog({ probers: 3 });
    for (const agent of [OTHER, IDLE]) log.listing(agent, "text.translate");
    goTo(log, START + HOUR + 60);
    const told: Uptime["hosts"][] = [];
    for (const [index, prober] of probers.entries()) {
      await prober.reportAt(FIRST_SLOT + 12);
      for (const body of prober.sent) {
        log.record("uptime", PROBERS[index] ?? OTHER, body);
        told.push(body.hosts as Uptime["hosts"]);
      }
      await prober.prober.close();
    }
    const [looked, failed] = [0b1111_1111_1110, 0b0000_0111_0000];
    expect(told.map((it) => it[at(1)])).to.deep.equal([
      [looked, 0],
      [looked, 0],
      [looked, looked],
    ]);
    expect(told.map((it) => it[at(2)])).to.deep.equal([
      [looked, failed],
      [looked, failed],
      [looked, looked & ~failed],
    ]);
    close(log);
    expect(await reasonsOf(log, "uptime")).to.deep.equal([null, null, null]);
    expect(await monthOf(log, AGENT)).to.deep.equal([11, 0, 0]);
    expect(await monthOf(log, OTHER)).to.deep.equal([11, 3, 3]);
    // An agent gets no uptime from a listing on the host of somebody else.
    const { store } = await log.derive();
    expect(store.rows("steward").get(IDLE)?.slots ?? "").to.equal("");
  });
});
