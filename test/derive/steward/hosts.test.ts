import { expect } from "chai";
import { hostsAt, parseServices } from "tallystick-derive/steward/served";
import { HOUR, START, wallet } from "../eventLog.ts";
import {
  AGENT,
  close,
  DOWN,
  FIRST_HOUR,
  goTo,
  HOST,
  monthOf,
  PROBERS,
  report,
  sellersOf,
  slots,
  stewardLog,
  stewardOf,
  UP,
} from "./stewardScene.ts";

const [FIRST = wallet(30), SECOND = wallet(31)] = PROBERS;
const names = (count: number) =>
  Array.from({ length: count }, (_, n) => `h${String(n).padStart(2, "0")}.example:443`);

describe("the hosts that serve an agent", () => {
  it("serve it for 168 hours after the last report that names them, whatever the order of the reports", async () => {
    for (const order of [
      [0, 100],
      [100, 99, 0],
    ]) {
      const log = stewardLog();
      for (const hour of order.toSorted((a, b) => a - b)) {
        goTo(log, START + (hour + 1) * HOUR + 1);
        // A report may come up to two hours late, so the report of hour 99 comes after that of hour 100.
        if (hour === 99) continue;
        report(log, FIRST, hour);
        if (order.includes(99) && hour === 100) report(log, FIRST, 99);
      }
      goTo(log, START + 268 * HOUR + 1);
      report(log, FIRST, 267, { hosts: { [HOST]: UP }, served: {} });
      expect((await monthOf(close(log)))[0], "hour 267").to.equal(12);
      goTo(log, START + 272 * HOUR + 1);
      report(log, FIRST, 271, { hosts: { [HOST]: UP }, served: {} });
      expect((await monthOf(close(log)))[0], "hour 271").to.equal(12);
    }
  });

  it("serve it also in the hour before, if the report of that hour comes after the next one", async () => {
    const log = stewardLog();
    goTo(log, START + 2 * HOUR + 1);
    report(log, FIRST, 1, { hosts: { [HOST]: UP } });
    report(log, FIRST, 0, { hosts: { [HOST]: UP } });
    expect((await monthOf(close(log)))[0]).to.equal(24);
  });

  it("are forgotten when none of their hours can still be open", async () => {
    for (const [gap, hosts] of [
      [335, [HOST, "b.example:443"]],
      [336, ["b.example:443"]],
    ] as const) {
      const log = stewardLog();
      goTo(log, START + HOUR + 1);
      report(log, FIRST, 0);
      goTo(log, START + (gap + 1) * HOUR + 1);
      report(log, FIRST, gap, { served: { [AGENT]: ["b.example:443"] } });
      const { served } = await stewardOf(log);
      expect(
        parseServices(served).map(({ host }) => host),
        `${gap} hours`,
      ).to.deep.equal(hosts);
    }
  });

  it("are at most 16 for each prober at a time", async () => {
    const log = stewardLog({ probers: 2 });
    goTo(log, START + HOUR + 1);
    report(log, FIRST, 0, { served: { [AGENT]: names(16) } });
    report(log, FIRST, 0, { served: { [AGENT]: [HOST] }, part: 1 });
    expect(parseServices((await stewardOf(log)).served).length, "a seventeenth host").to.equal(16);
    report(log, SECOND, 0, { served: { [AGENT]: [HOST] } });
    const { served } = await stewardOf(log);
    const { host, prober } = parseServices(served).at(-1) ?? {};
    expect([host, prober]).to.deep.equal([HOST, SECOND]);
    // 168 hours later none of the 16 hosts serves the agent any more, so another one can.
    goTo(log, START + 169 * HOUR + 1);
    report(log, FIRST, 168, { served: { [AGENT]: ["new.example:443"] } });
    expect(parseServices((await stewardOf(log)).served).at(-1)?.host).to.equal("new.example:443");
  });

  it("have each prober once, also if it names a host again after 168 hours", async () => {
    const log = stewardLog({ probers: 2 });
    goTo(log, START + HOUR + 1);
    report(log, FIRST, 0);
    goTo(log, START + 169 * HOUR + 1);
    report(log, FIRST, 168, { hosts: { [HOST]: UP } });
    report(log, FIRST, 167);
    report(log, SECOND, 168, { hosts: { [HOST]: UP }, served: {} });
    const services = parseServices((await stewardOf(log)).served);
    expect([...hostsAt(services, FIRST_HOUR + 168)]).to.deep.equal([[HOST, [FIRST]]]);
    // One of the two probers that looked found that the host serves the agent. That is not enough.
    expect(await monthOf(close(log))).to.deep.equal([0, 0, 0]);
  });

  it("put the agents of one report into their slot of the hour in the order of their addresses", async () => {
    const log = stewardLog();
    for (const n of [13, 25, 37])
      log.after(1, 300).listing(wallet(n), `custom.kind${n}`, { price_usdc: `${n}` });
    goTo(log, START + HOUR + 1);
    const served = Object.fromEntries([37, 13, 25].map((n) => [wallet(n), [HOST]]));
    report(log, FIRST, 0, { served });
    const { store } = await log.derive();
    expect(store.rows("list").get("steward/1")?.tail.split("\n")).to.deep.equal([13, 25, 37].map(wallet));
  });
});

describe("a prober's reports", () => {
  it("are forgotten three hours after the hour has closed", async () => {
    for (const [seconds, hours] of [
      [-1, [0, 5]],
      [0, [5]],
    ] as const) {
      const log = stewardLog();
      goTo(log, START + HOUR + 1);
      report(log, FIRST, 0, { hosts: { [HOST]: UP } });
      goTo(log, START + 6 * HOUR + seconds).tick();
      goTo(log, START + 6 * HOUR + 1);
      report(log, FIRST, 5, { hosts: { [HOST]: UP } });
      const { store } = await log.derive();
      const lines = store.rows("probedHost").get(HOST)?.reports.split("\n") ?? [];
      expect(lines.map((line) => Number(line.split(" ")[0]) - FIRST_HOUR)).to.deep.equal(hours);
    }
  });

  it("show for 168 hours after the latest of them that a host is a seller's", async () => {
    for (const order of [
      [0, 100],
      [100, 99],
    ]) {
      const log = stewardLog();
      const hosts = names(20);
      const served = sellersOf(log, hosts);
      const last = Math.max(...order);
      for (const hour of order) {
        goTo(log, Math.max(log.time, START + (hour + 1) * HOUR + 1));
        report(log, FIRST, hour, { served });
      }
      const all = (word: [number, number]) => Object.fromEntries([...hosts, HOST].map((it) => [it, word]));
      for (const [n, word] of [UP, slots(`0000${"1".repeat(8)}`)].entries()) {
        const hour = last + 166 + n;
        goTo(log, START + (hour + 1) * HOUR + 1);
        report(log, FIRST, hour, { hosts: all(word) });
      }
      expect(await monthOf(close(log)), `${order}`).to.deep.equal([20, 0, 0]);
    }
  });
});

describe("an agent's own reports", () => {
  const claims = async (hosts: string[], hour = 0, log = stewardLog()) => {
    goTo(log, START + (hour + 1) * HOUR + 1);
    report(log, AGENT, hour, { hosts: Object.fromEntries(hosts.map((it) => [it, UP])), served: {} });
    return { log, lines: (await stewardOf(log)).claims.split("\n") };
  };

  it("count for 16 hosts of an hour, the first by name", async () => {
    const { log, lines } = await claims(names(17).toReversed());
    expect(lines).to.deep.equal(names(16).map((host) => `${FIRST_HOUR} ${host} 4095`));
    const next = await claims([HOST], 1, log);
    expect(next.lines.at(-1)).to.equal(`${FIRST_HOUR + 1} ${HOST} 4095`);
  });

  it("are forgotten when their hour closes, also if no prober looked", async () => {
    for (const isProbed of [false, true])
      for (const [seconds, isKept] of [
        [3 * HOUR, true],
        [3 * HOUR + 1, false],
      ] as const) {
        const { log } = await claims([HOST]);
        if (isProbed) report(log, FIRST, 0, { hosts: { [HOST]: DOWN } });
        goTo(log, START + seconds).tick();
        expect((await stewardOf(log)).claims !== "", `${seconds}, ${isProbed}`).to.equal(isKept);
      }
  });
});
