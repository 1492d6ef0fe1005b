import { expect } from "chai";
import { parseSlotDays } from "tallystick-derive/steward/slotDays";
import { DAY, HOUR, START, wallet } from "../eventLog.ts";
import {
  AGENT,
  BUYER,
  close,
  DOWN,
  goTo,
  HOST,
  hoursOf,
  monthOf,
  PROBERS,
  reasonsOf,
  report,
  sellersOf,
  slots,
  stewardLog,
  stewardOf,
  UP,
} from "./stewardScene.ts";

const [FIRST = wallet(30), SECOND = wallet(31), THIRD = wallet(32)] = PROBERS;
const up = "1".repeat(12);

describe("uptime: runs of failed slots", () => {
  const cases: [what: string, hours: string[], month: [data: number, down: number, raw: number]][] = [
    ["a run of 2 is no downtime", ["100111111111"], [12, 0, 2]],
    ["a run of 3 is downtime, from its first slot on", ["100011111111"], [12, 3, 3]],
    ["two runs of 2 are not one longer run", ["100100111111"], [12, 0, 4]],
    [
      "2 failed slots at the end of an hour and 1 at the start of the next are a run of 3",
      ["111111111100", "011111111111"],
      [24, 3, 3],
    ],
    ["a run of 2 before an hour that begins up is no downtime", ["111111111100", up], [24, 0, 2]],
    ["slots without data do not end a run", ["0..0..0.1111"], [7, 3, 3]],
    ["slots without data do not lengthen a run", ["00.........."], [2, 0, 2]],
    ["an hour without data does not end a run", ["111111111100", "............", "0..........."], [13, 3, 3]],
    ["a whole hour of failed slots is downtime", ["0".repeat(12)], [12, 12, 12]],
  ];
  for (const [what, hours, month] of cases) {
    it(what, async () => {
      const log = close(hoursOf(stewardLog(), hours));
      expect(await monthOf(log)).to.deep.equal(month);
    });
  }

  it("cross midnight, and each day has its own slots", async () => {
    const hours = [...Array.from({ length: 23 }, () => "1..........."), "111111111100", "011111111111"];
    const row = await stewardOf(close(hoursOf(stewardLog(), hours)));
    const today = START / DAY;
    expect(parseSlotDays(row.slots)).to.deep.equal([
      { day: today, data: 35, down: 2, raw: 2, denied: 0 },
      { day: today + 1, data: 12, down: 1, raw: 1, denied: 0 },
    ]);
    // 35 is z in base 36.
    expect(row.slots).to.equal(`${today}:0z0202000c010100`);
  });

  it("give an uptime of (data − down) / data, and the row also has the number of failed slots", async () => {
    const row = await stewardOf(close(hoursOf(stewardLog(), ["100011110011"])));
    expect([row.uptime, row.slotSums]).to.deep.equal([750_000_000, "12:3:5 12:3:5 12:3:5"]);
  });
});

describe("uptime: what probers say together", () => {
  const say = async (...words: string[]) => {
    const log = stewardLog({ probers: 4 });
    goTo(log, START + HOUR + 1);
    // Three equal slots, because only a run of three failed slots counts as downtime.
    for (const [n, word] of words.entries())
      report(log, PROBERS[n] ?? FIRST, 0, { hosts: { [HOST]: slots(word.repeat(3)) } });
    return monthOf(close(log));
  };
  const [isUp, isDown, none] = [
    [3, 0, 0],
    [3, 3, 3],
    [0, 0, 0],
  ];
  const cases: [words: string, month: number[]][] = [
    ["1", isUp],
    ["0", isDown],
    [".", none],
    ["01", isUp],
    ["00", isDown],
    ["0.", isDown],
    ["001", isDown],
    ["011", isUp],
    ["01.", isUp],
    ["0011", isUp],
    ["0001", isDown],
    ["00..", isDown],
  ];
  for (const [words, month] of cases) {
    it(`the results ${words} of ${words.length} probers give ${month === isUp ? "up" : month === isDown ? "down" : "no data"}`, async () => {
      expect(await say(...words)).to.deep.equal(month);
    });
  }

  it("counts the first report of a prober about a host and an hour", async () => {
    const log = stewardLog();
    goTo(log, START + HOUR + 1);
    report(log, FIRST, 0, { hosts: { [HOST]: UP } });
    report(log, FIRST, 0, { hosts: { [HOST]: DOWN }, part: 1 });
    expect(await monthOf(close(log))).to.deep.equal([12, 0, 0]);
  });

  it("accepts a report for two hours from the end of its hour on, from probers and agents only", async () => {
    const log = stewardLog();
    goTo(log, START + HOUR - 1);
    report(log, FIRST, 0);
    report(log, FIRST, 0);
    goTo(log, START + HOUR);
    report(log, FIRST, 0);
    goTo(log, START + 3 * HOUR);
    report(log, FIRST, 0, { part: 1 });
    goTo(log, START + 3 * HOUR + 1);
    report(log, FIRST, 0, { part: 2 });
    report(log, wallet(77), 2);
    expect(await reasonsOf(log, "uptime")).to.deep.equal([
      "body.hour is not over",
      "body.hour is not over",
      null,
      null,
      "body.hour ended more than 7200 seconds ago",
      `signer ${wallet(77)} is neither a prober nor an agent`,
    ]);
  });

  it("counts an hour only after the two hours in which its reports may come", async () => {
    for (const [more, data] of [
      [0, 0],
      [1, 12],
    ] as const) {
      const log = hoursOf(stewardLog(), [up]);
      goTo(log, START + 3 * HOUR + more).tick();
      expect((await monthOf(log))[0], `${more} s later`).to.equal(data);
    }
  });
});

describe("uptime: a prober that is itself offline", () => {
  const others = (count: number) => Array.from({ length: count }, (_, n) => `h${n}.example:443`);
  /**
   * In the first hour the agent's host is up, and the other hosts are as `before` says. In the second hour `down`
   * hosts, one of them the agent's, are down for four slots. `sellers` hosts belong to an agent with a sale.
   */
  const outage = async (hosts: number, down: number, { before = UP, sellers = hosts } = {}) => {
    const log = stewardLog();
    const names = others(hosts - 1);
    const served = sellersOf(log, [HOST, ...names].slice(0, sellers));
    const all = (word: [number, number]) => Object.fromEntries(names.map((it) => [it, word]));
    goTo(log, START + HOUR + 1);
    report(log, FIRST, 0, { hosts: { ...all(before), [HOST]: UP }, served });
    goTo(log, START + 2 * HOUR + 1);
    const gone = Object.fromEntries(
      names.map((it, n) => [it, n < down - 1 ? slots(`0000${"1".repeat(8)}`) : UP]),
    );
    report(log, FIRST, 1, { hosts: { ...gone, [HOST]: slots(`0000${"1".repeat(8)}`) } });
    return monthOf(close(log));
  };

  it("gives no data for a slot in which more than half of at least 20 hosts are down", async () => {
    expect(await outage(20, 11)).to.deep.equal([20, 0, 0]);
    expect(await outage(20, 10), "half").to.deep.equal([24, 4, 4]);
    expect(await outage(19, 19), "19 hosts").to.deep.equal([24, 4, 4]);
    expect(await outage(21, 11), "11 of 21").to.deep.equal([20, 0, 0]);
  });

  it("is not found offline by hosts that were down before, however many", async () => {
    expect(await outage(400, 400, { before: DOWN })).to.deep.equal([24, 4, 4]);
  });

  it("is not found offline by hosts of agents without sales, or by many hosts of one seller", async () => {
    expect(await outage(400, 400, { sellers: 19 }), "19 sellers").to.deep.equal([24, 4, 4]);
    expect(await outage(400, 400, { sellers: 20 }), "20 sellers").to.deep.equal([20, 0, 0]);
    const log = stewardLog();
    log.hire(AGENT, BUYER);
    const hosts = (word: [number, number]) =>
      Object.fromEntries([...others(15), HOST].map((it) => [it, word]));
    const served = { ...sellersOf(log, others(5)), [AGENT]: Object.keys(hosts(UP)) };
    for (const [hour, word] of [UP, DOWN].entries()) {
      goTo(log, START + (hour + 1) * HOUR + 1);
      report(log, FIRST, hour, { hosts: hosts(word), served });
    }
    expect(await monthOf(close(log)), "16 hosts of one seller").to.deep.equal([24, 12, 12]);
  });

  it("is found offline by a seller's host for 168 hours after a report that the host serves the seller", async () => {
    for (const [gap, month] of [
      [167, [20, 0, 0]],
      [168, [24, 4, 4]],
    ] as const) {
      const log = stewardLog();
      // The agent itself sold nothing, so the later reports may name its host as serving it.
      const served = sellersOf(log, others(20));
      const names = [...others(20), HOST];
      const hosts = (word: [number, number]) => Object.fromEntries(names.map((it) => [it, word]));
      goTo(log, START + HOUR + 1);
      report(log, FIRST, 0, { served });
      for (const [n, word] of [UP, slots(`0000${"1".repeat(8)}`)].entries()) {
        const hour = gap - 1 + n;
        goTo(log, START + (hour + 1) * HOUR + 1);
        report(log, FIRST, hour, { hosts: hosts(word) });
      }
      expect(await monthOf(close(log)), `hour ${gap}`).to.deep.equal(month);
    }
  });

  it("is found offline by its own reports alone, also over several hours", async () => {
    const log = stewardLog({ probers: 2 });
    const served = sellersOf(log, [...others(19), HOST]);
    const hosts = (word: [number, number]) =>
      Object.fromEntries([...others(19), HOST].map((it) => [it, word]));
    const words = [UP, slots("111111110000"), DOWN, DOWN, slots(`00${"1".repeat(10)}`), UP];
    for (const [hour, word] of words.entries()) {
      goTo(log, START + (hour + 1) * HOUR + 1);
      report(log, FIRST, hour, { hosts: hosts(word), served });
    }
    expect(await monthOf(close(log)), "12 + 8 + 10 + 12").to.deep.equal([42, 0, 0]);
  });

  it("costs the agent nothing if the other probers see the agent up, and hides no downtime that they see", async () => {
    const log = stewardLog({ probers: 3 });
    const served = sellersOf(log, [...others(19), HOST]);
    const hosts = (word: [number, number], own: [number, number]) => ({
      ...Object.fromEntries(others(19).map((it) => [it, word])),
      [HOST]: own,
    });
    for (const [hour, [bad, good]] of [
      [UP, UP],
      [DOWN, DOWN],
    ].entries() as Iterable<[number, [[number, number], [number, number]]]>) {
      goTo(log, START + (hour + 1) * HOUR + 1);
      report(log, FIRST, hour, { hosts: hosts(bad, bad), served });
      for (const prober of [SECOND, THIRD]) report(log, prober, hour, { hosts: hosts(UP, good), served });
    }
    expect(await monthOf(close(log))).to.deep.equal([24, 12, 12]);
  });
});

describe("uptime over an agent's hosts", () => {
  const hosts = { "a.example:443": UP, "b.example:443": DOWN };

  it("is that of the worst host in each slot", async () => {
    const log = stewardLog();
    goTo(log, START + HOUR + 1);
    const word = { "a.example:443": slots("000111111111"), "b.example:443": slots("111111111000") };
    report(log, FIRST, 0, { hosts: word, served: { [AGENT]: ["a.example:443", "b.example:443"] } });
    expect(await monthOf(close(log))).to.deep.equal([12, 6, 6]);
  });

  it("has the slots of a host for 168 hours after a report that the host served the agent", async () => {
    for (const [hour, data] of [
      [167, 12],
      [168, 0],
    ] as const) {
      const log = stewardLog();
      goTo(log, START + HOUR + 1);
      report(log, FIRST, 0);
      goTo(log, START + (hour + 1) * HOUR + 1);
      report(log, FIRST, hour, { hosts: { [HOST]: UP }, served: {} });
      expect((await monthOf(close(log)))[0], `hour ${hour}`).to.equal(data);
    }
  });

  it("has no slot from before the host served the agent", async () => {
    const log = stewardLog();
    goTo(log, START + HOUR + 1);
    report(log, FIRST, 0, { hosts: { [HOST]: DOWN }, served: {} });
    goTo(log, START + 2 * HOUR + 1);
    report(log, FIRST, 1, { hosts: { [HOST]: UP } });
    expect(await monthOf(close(log))).to.deep.equal([12, 0, 0]);
  });

  it("keeps its history when the agent moves to another host", async () => {
    const log = stewardLog();
    goTo(log, START + HOUR + 1);
    report(log, FIRST, 0, { hosts, served: { [AGENT]: ["b.example:443"] } });
    goTo(log, START + 200 * HOUR + 1);
    report(log, FIRST, 199, { hosts, served: { [AGENT]: ["a.example:443"] } });
    expect(await monthOf(close(log))).to.deep.equal([24, 12, 12]);
  });

  it("ignores a host if only a minority of the probers found that the host serves the agent", async () => {
    for (const [liars, data] of [
      [1, 12],
      [2, 24],
    ] as const) {
      const log = stewardLog({ probers: 3 });
      for (const hour of [0, 1]) {
        goTo(log, START + (hour + 1) * HOUR + 1);
        for (const [n, prober] of [FIRST, SECOND, THIRD].entries()) {
          const served = n < liars && hour === 1 ? { [AGENT]: [HOST, "b.example:443"] } : undefined;
          const own = { [HOST]: hour === 0 ? UP : slots("."), "b.example:443": DOWN };
          report(log, prober, hour, { hosts: own, ...(served && { served }) });
        }
      }
      expect((await monthOf(close(log)))[0], `${liars} of 3`).to.equal(data);
    }
  });

  it("is not decided by one of two probers", async () => {
    const log = stewardLog({ probers: 2 });
    goTo(log, START + HOUR + 1);
    report(log, FIRST, 0, { hosts: { [HOST]: DOWN } });
    report(log, SECOND, 0, { hosts: { [HOST]: DOWN }, served: {} });
    expect(await monthOf(close(log))).to.deep.equal([0, 0, 0]);
  });

  it("is empty for an address that is not an agent, also if reports name it beside the host's agent", async () => {
    const log = stewardLog();
    goTo(log, START + HOUR + 1);
    report(log, FIRST, 0, { hosts: { [HOST]: UP }, served: { [wallet(88)]: [HOST], [AGENT]: [HOST] } });
    const { store } = await close(log).derive();
    expect([...store.rows("steward").keys()]).to.deep.equal([AGENT]);
    expect(await monthOf(log)).to.deep.equal([12, 0, 0]);
  });
});

describe("uptime: an agent's own reports", () => {
  it("cost .05 for each slot that they call up and the probers found down, at most .2", async () => {
    for (const [claimed, denied] of [
      ["1111", 4],
      ["11..", 2],
      ["0000", 0],
      ["1111111", 4],
    ] as const) {
      const log = stewardLog();
      goTo(log, START + HOUR + 1);
      report(log, AGENT, 0, { hosts: { [HOST]: slots(claimed) } });
      report(log, FIRST, 0, { hosts: { [HOST]: slots("000011111111") } });
      const row = await stewardOf(close(log));
      expect([row.denied, row.uptime], claimed).to.deep.equal([denied, 666_666_667]);
      const uptime = 133_333_333;
      expect(row.score).to.equal(Math.max(0, uptime - denied * 50_000_000));
    }
  });

  it("count once for an hour and a host, as first given, and add no host", async () => {
    const log = stewardLog();
    goTo(log, START + HOUR + 1);
    report(log, AGENT, 0, { hosts: { [HOST]: slots("0000") } });
    report(log, AGENT, 0, { hosts: { [HOST]: UP, "b.example:443": UP }, part: 1 });
    report(log, FIRST, 0, { hosts: { [HOST]: DOWN, "b.example:443": DOWN } });
    expect((await stewardOf(close(log))).denied).to.equal(0);
  });
});
