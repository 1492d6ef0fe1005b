import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";
import { Committer } from "../../../services/settlement/standby/committer.ts";
import { storeUnavailable } from "../../../services/settlement/standby/storeErrors.ts";

const because = (code: string) => new TallystickError({ code, message: "It cannot.", hint: "Look." });

const NOTHING_HELD = { putHeld: async () => true, held: async () => undefined };

describe("a writer that cannot write or anchor", () => {
  it("waits the whole time for each of these two faults before it hands the lease over", async () => {
    const gate = new LedgerGate(() => {});
    let [now, leases] = [0, 0];
    const lost: TallystickError[] = [];
    const committer = new Committer({
      store: {
        commit: async () => "ours",
        flushesFrom: async () => [],
        lease: async () => ++leases > 0,
        handOver: async () => true,
        ...NOTHING_HELD,
      },
      leaseMs: 8,
      handOverMs: 1_000,
      gate,
      onLost: (error) => lost.push(error),
      elapsedMs: () => now,
    });
    const someLeases = async () => {
      for (const until = leases + 3; leases < until && lost.length === 0; ) await sleep(1);
    };
    try {
      gate.noteSilence(because("chain_silent"));
      await someLeases();
      now = 2_900;
      await someLeases();
      gate.close("index", because("index_refused"));
      await someLeases();
      expect(lost, "it could write until now").to.deep.equal([]);
      now = 3_900;
      await someLeases();
      expect(lost[0]?.cause).to.include({ code: "index_refused" });
    } finally {
      await committer.stop();
    }
  });
});

describe("the commit of a flush", () => {
  const flush = { first: 0, next: 1, parent: "", head: "", lines: "line\n" };
  const away = new Error("no connection");
  /** Commits a flush with a store that answers as given, and returns the error and the calls. */
  async function commitWith(store: {
    commit: () => Promise<"ours" | "anothers" | "no_predecessor">;
    lease?: () => Promise<boolean>;
    /** The store has flushes up to this position. The committed flush has the position 0, or else `first`. */
    end?: number;
    first?: number;
    /** What happens when the store is away for the first time. */
    onAway: (committer: Committer) => void;
    elapsedMs?: () => number;
  }): Promise<TallystickError> {
    const gate = new LedgerGate(() => {});
    const committer: Committer = new Committer({
      store: {
        commit: store.commit,
        lease: store.lease ?? (async () => true),
        flushesFrom: async () => [{ ...flush, next: store.end ?? 0 }],
        handOver: async () => false,
        ...NOTHING_HELD,
      },
      // The lease is never renewed by the clock of the machine.
      leaseMs: 1_000_000,
      handOverMs: 1_000_000,
      gate,
      onLost: () => {},
      elapsedMs: store.elapsedMs ?? (() => 0),
    });
    let isAway = false;
    gate.onChange(() => {
      if (isAway) return;
      isAway = true;
      store.onAway(committer);
    });
    try {
      return await committer.commit({ ...flush, first: store.first ?? 0 }).then(
        () => expect.fail("it was stored"),
        (error) => error,
      );
    } finally {
      await committer.stop();
    }
  }
  const stop = (committer: Committer) => void committer.stop();
  const throws = async () => {
    throw away;
  };

  it("has an unknown outcome if the lease is lost, or the process stops, after the store did not answer", async () => {
    let now = 0;
    const lost = await commitWith({
      commit: throws,
      lease: async () => false,
      onAway: () => {
        now = 2_000_000;
      },
      elapsedMs: () => now,
    });
    expect(lost).to.include({ code: "outcome_unknown" });
    expect(lost.cause).to.include({ code: "ledger_taken_over" });
    const stopped = await commitWith({ commit: throws, onAway: stop });
    expect(stopped).to.include({ code: "outcome_unknown" });
    expect(stopped.cause).to.include({ code: "store_unavailable" });
  });

  it("comes after another question for the lease if the lease may be over, counted from the last question", async () => {
    let [now, leases] = [0, 0];
    const committer = new Committer({
      store: {
        commit: async () => "ours",
        // The answer takes almost as long as the lease.
        lease: async () => {
          leases++;
          now += 900_000;
          return true;
        },
        flushesFrom: async () => [],
        handOver: async () => false,
        ...NOTHING_HELD,
      },
      ...{ leaseMs: 1_000_000, handOverMs: 1_000_000, gate: new LedgerGate(() => {}) },
      ...{ onLost: () => {}, elapsedMs: () => now },
    });
    const asked: number[] = [];
    try {
      for (const time of [1_000_000, 1_000_001, 2_000_001, 2_000_002]) {
        now = time;
        await committer.commit(flush);
        asked.push(leases);
      }
    } finally {
      await committer.stop();
    }
    expect(asked).to.deep.equal([0, 1, 1, 2]);
  });

  it("did not happen if the flush was never sent, or another one is at its position", async () => {
    let now = 0;
    const later = (lease: () => Promise<boolean>) =>
      commitWith({
        commit: async () => expect.fail("it was sent"),
        lease,
        onAway: stop,
        // The lease is old when the flush comes.
        elapsedMs: () => now++ * 2_000_000,
      });
    expect(await later(async () => false)).to.include({ code: "ledger_taken_over" });
    expect(await later(throws)).to.include({ code: "store_unavailable" });
    let attempts = 0;
    const anothers = await commitWith({
      commit: async () => (attempts++ === 0 ? throws() : "anothers"),
      onAway: () => {},
    });
    expect(anothers).to.include({ code: "ledger_taken_over" });
    expect(anothers.hint).to.contain("Your request was not written");
  });

  it("did not happen if the store lacks the flush before it, and the store's flushes tell the reason", async () => {
    for (const [end, code] of [
      [3, "ledger_taken_over"],
      [2, "store_contradicts"],
      [1, "store_behind"],
    ] as const) {
      const commit = async () => "no_predecessor" as const;
      const refused = await commitWith({ commit, end, first: 2, onAway: () => {} });
      expect(refused, `flushes up to ${end}`).to.include({ code });
    }
  });

  it("names the database's host in the log only, and not in the reason that strangers read", async () => {
    const logged: unknown[] = [];
    const gate = new LedgerGate((_, fields) => logged.push(fields));
    for (const [code, reason] of [
      ["ECONNREFUSED", "ECONNREFUSED"],
      [undefined, "the connection is broken or too slow"],
    ]) {
      const cause = Object.assign(new Error("connect to db7.internal:5432 failed"), { code });
      gate.close("store", storeUnavailable(cause));
      expect(gate.refusal?.message).to.equal(`The shared store does not answer: ${reason}.`);
      expect(logged.pop()).to.deep.include({ code: "store_unavailable", cause });
      gate.open("store");
    }
  });
});

describe("a held proposal on its way to the store", () => {
  const line = { id: "ab", line: "ab\n" };
  /** Holds it with a store that answers as given, and returns how it ended. `stored` is whether the store has it. */
  async function holdWith(store: {
    putHeld: () => Promise<boolean>;
    stored?: boolean;
    /** It is stopped after the first call. */
    isStopped?: boolean;
  }): Promise<TallystickError | "held"> {
    const gate = new LedgerGate(() => {});
    const committer = new Committer({
      store: {
        commit: async () => "ours",
        lease: async () => true,
        flushesFrom: async () => [],
        handOver: async () => false,
        putHeld: async () => {
          if (store.isStopped) void committer.stop();
          return await store.putHeld();
        },
        held: async () => (store.stored ? line : undefined),
      },
      ...{ leaseMs: 1_000_000, handOverMs: 1_000_000, gate, onLost: () => {} },
    });
    try {
      return await committer.hold(line).then(
        () => "held",
        (error) => error,
      );
    } finally {
      await committer.stop();
    }
  }
  const throws = async () => {
    throw new Error("no connection");
  };
  const lostOnce = (then: boolean) => {
    let attempts = 0;
    return async () => (attempts++ === 0 ? throws() : then);
  };

  it("is held if the store has it, also if the answer was lost, and the lease after it", async () => {
    expect(await holdWith({ putHeld: async () => true })).to.equal("held");
    expect(await holdWith({ putHeld: lostOnce(true) })).to.equal("held");
    expect(await holdWith({ putHeld: lostOnce(false), stored: true })).to.equal("held");
  });

  it("is not held if another process has the lease, and the store does not have it", async () => {
    for (const putHeld of [async () => false, lostOnce(false)])
      expect(await holdWith({ putHeld })).to.include({ code: "ledger_taken_over" });
  });

  it("has an unknown outcome if the process stops before the store answers", async () => {
    expect(await holdWith({ putHeld: throws, isStopped: true })).to.include({ code: "outcome_unknown" });
  });

  it("is refused while 32 others wait for the store", async () => {
    const store = Promise.withResolvers<boolean>();
    const gate = new LedgerGate(() => {});
    const committer = new Committer({
      store: {
        commit: async () => "ours",
        lease: async () => true,
        flushesFrom: async () => [],
        handOver: async () => false,
        putHeld: () => store.promise,
        held: async () => undefined,
      },
      ...{ leaseMs: 1_000_000, handOverMs: 1_000_000, gate, onLost: () => {} },
    });
    const waiting = Array.from({ length: 32 }, (_, n) => committer.hold({ id: `${n}`, line: "" }));
    const refused = await committer.hold(line).catch((error) => error);
    expect(refused).to.include({ code: "store_unavailable" });
    store.resolve(true);
    await Promise.all(waiting);
    await committer.hold(line);
    await committer.stop();
  });
});
