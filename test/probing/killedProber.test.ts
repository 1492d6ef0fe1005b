import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { parseUptime } from "tallystick-protocol/records/uptime";
import { ServiceError } from "tallystick-sdk/requestService";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { behaviours, type LocalHosts, openLocalHosts } from "./support/localHosts.ts";
import {
  agent,
  DAY,
  FIRST_SLOT,
  listingAt,
  observationsOf,
  openTestProber,
} from "./support/openTestProber.ts";

const COUNT = 40;
/** The killed prober needs nearly twenty seconds for all hosts. This test may be stopped for several of them. */
const PER_SECOND = 2;

describe("a prober that is killed", () => {
  const folder = suiteFolder();
  let hosts: LocalHosts;

  before(async () => {
    hosts = await openLocalHosts();
  });

  after(() => hosts.close());

  const targets = () =>
    Array.from({ length: COUNT }, (_, index) =>
      listingAt(`127.2.0.${index + 1}:${hosts.port}`, agent(index + 1)),
    );
  const looks = () => hosts.hits.filter((hit) => hit.path === "/hire");

  function startProcess(now: number, perSecond: number): ChildProcess {
    const args = [folder.path, hosts.port, COUNT, now, perSecond].map(String);
    return spawn(process.execPath, nodeProgram("test/probing/support/proberToKill.ts", args), {
      cwd: repositoryRoot,
      stdio: ["ignore", "pipe", "inherit"],
    });
  }

  it("continues in the same slot, and looks at no host a second time", async () => {
    for (let n = 1; n <= COUNT; n++) hosts.set(`127.2.0.${n}`, behaviours.good);
    // In the first slot the prober learns that each host serves its agent.
    const first = await openTestProber(folder.path, targets());
    await first.passSlot(FIRST_SLOT);
    await first.prober.close();
    hosts.hits.length = 0;

    // Late in the next slot all looks are due. The prober sends its requests slowly.
    const now = DAY + 2 * 300 - 2;
    const killed = startProcess(now, PER_SECOND);
    while (looks().length < 2 * PER_SECOND) await new Promise((resolve) => setTimeout(resolve, 10));
    killed.kill("SIGKILL");
    await once(killed, "close");
    const before = looks().length;
    expect(before).to.be.below(COUNT);
    // This looks as if the process was killed in the middle of a line.
    appendFileSync(observationsOf(folder.path, DAY / 3_600), `${FIRST_SLOT + 1} 17672`);

    const [code] = await once(startProcess(now, 1_000), "close");
    expect(code).to.equal(0);
    const asked = looks().map(({ address }) => address);
    expect(new Set(asked)).to.have.property("size", asked.length);
    // The hosts that were asked just before the kill have no answer. The prober has looked at all other hosts.
    expect(asked.length).to.be.at.least(COUNT - 8);

    const last = await openTestProber(folder.path, targets(), {}, { now });
    last.prober.tick();
    await last.prober.idle();
    expect(looks()).to.have.length(asked.length);
    await last.reportAt(FIRST_SLOT + 12);
    await last.prober.close();
    const { hosts: told } = parseUptime({ ...last.sent[0], type: "uptime", ledger: "local" });
    const lines = readFileSync(observationsOf(folder.path, DAY / 3_600), "utf8").split("\n");
    const answered = lines.filter((line) => line.startsWith(`${FIRST_SLOT + 1} `) && line.includes(" up "));
    expect(Object.entries(told)).to.have.length(answered.length);
    expect(new Set(Object.values(told).map(String))).to.deep.equal(new Set(["2,0"]));
  });

  it("sends an hour's stored report again, without later observations", async () => {
    const own = path.join(folder.path, "told");
    hosts.set("127.2.1.1", behaviours.good);
    const listing = listingAt(`127.2.1.1:${hosts.port}`, agent(1));
    const away = async () => Promise.reject(new Error("settlement is away"));
    const first = await openTestProber(own, [listing], { send: away });
    for (let slot = 0; slot < 3; slot++) await first.passSlot(FIRST_SLOT + slot);
    await first.reportAt(FIRST_SLOT + 12);
    expect(first.logged.join(" ")).to.contain("could not be sent");
    await first.prober.close();

    // The host was down after the report was made. This does not change the report.
    appendFileSync(
      observationsOf(own, DAY / 3_600),
      `${FIRST_SLOT + 5} 1 down 127.2.1.1:${hosts.port} late\n`,
    );
    const second = await openTestProber(own, [listing], {}, { now: DAY + 3_600 });
    await second.reportAt(FIRST_SLOT + 13);
    await second.reportAt(FIRST_SLOT + 14);
    expect(second.sent).to.have.length(1);
    expect(second.sent[0]?.hosts).to.deep.equal({ [`127.2.1.1:${hosts.port}`]: [0b110, 0] });
    await second.prober.close();

    // Two hours after the end of the hour the report has no effect, so it is not sent.
    const late = path.join(folder.path, "late");
    const third = await openTestProber(late, [listing], { send: away });
    for (let slot = 0; slot < 3; slot++) await third.passSlot(FIRST_SLOT + slot);
    await third.reportAt(FIRST_SLOT + 12);
    await third.prober.close();
    const fourth = await openTestProber(late, []);
    await fourth.reportAt(FIRST_SLOT + 12 + 24);
    expect(fourth.sent).to.have.length(0);
    expect(fourth.logged.join(" ")).to.contain("too late");
    await fourth.prober.close();
  });

  it("gives up a report only after settlement has refused it several times", async () => {
    const own = path.join(folder.path, "refused");
    hosts.set("127.2.3.1", behaviours.good);
    let times = 0;
    const send = async () => {
      times++;
      throw new ServiceError({ code: "invalid_input", message: "is not over yet", status: 400 });
    };
    const prober = await openTestProber(own, [listingAt(`127.2.3.1:${hosts.port}`, agent(1))], { send });
    for (let slot = 0; slot < 3; slot++) await prober.passSlot(FIRST_SLOT + slot);
    for (let round = 0; round < 8; round++) await prober.reportAt(FIRST_SLOT + 12);
    expect(times).to.equal(5);
    expect(prober.prober.status()).to.have.property("reports_waiting", 0);
    await prober.prober.close();
  });

  it("makes an hour's report from the disk if the prober was killed before the report", async () => {
    const own = path.join(folder.path, "untold");
    hosts.set("127.2.2.1", behaviours.good);
    const listing = listingAt(`127.2.2.1:${hosts.port}`, agent(1));
    const first = await openTestProber(own, [listing]);
    for (let slot = 0; slot < 3; slot++) await first.passSlot(FIRST_SLOT + slot);
    await first.prober.close();
    const second = await openTestProber(own, [listing], {}, { now: DAY + 3_600 });
    expect(second.prober.status()).to.deep.include({ hosts: 1, last_hour: -1 });
    await second.prober.close();
    const third = await openTestProber(own, [listing], {}, { now: DAY + 3_600 });
    await third.reportAt(FIRST_SLOT + 12);
    expect(third.sent.map(({ hour, hosts: told }) => [hour, told])).to.deep.equal([
      [DAY / 3_600, { [`127.2.2.1:${hosts.port}`]: [0b110, 0] }],
    ]);
    await third.prober.close();
  });
});
