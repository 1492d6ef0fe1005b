import { expect } from "chai";
import { type InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { GENESIS_HASH, type LedgerEntry } from "tallystick-protocol/ledger/entry";
import type { HeldProposal } from "../../../services/settlement/engine/heldProposals.ts";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import {
  DEFAULT_HISTORY,
  type HistoryPage,
  MAX_HISTORY,
  readTaskStatus,
} from "../../../services/settlement/engine/taskStatus.ts";

/** No entry has the hash before the first one, which is all zeros. */
const hashOf = (n: number) => (n + 1).toString(16).padStart(64, "0");
const agent = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

describe("the status of a task", () => {
  let index: LedgerIndex;
  let entries: LedgerEntry[];
  let held: (HeldProposal & { parentHash: string })[];
  beforeEach(() => {
    index = new LedgerIndex();
    [entries, held] = [[], []];
  });
  afterEach(() => index.close());

  const add = (taskId: string, payload: LedgerEntry["payload"] = {}) => {
    const n = entries.length;
    const parentHash = n === 0 ? GENESIS_HASH : hashOf(n - 1);
    const entry = { timestamp: 1_000 + n / 2, taskId, parentHash, payload, currentHash: hashOf(n) };
    entries.push(entry);
    index.add(entry, n);
  };
  const say = (type: string, by: number, body: { [key: string]: string }) =>
    add("its digest", { type, body: { type, ledger: "local", ...body }, signer: agent(by), signature: "0x" });
  const hold = (id: string, parentHash: string, taskId = "t") =>
    held.push({ id, taskId, timestamp: 5, divergence: 0.5, parentHash });
  let asked: unknown[];
  const read = (taskId: string, page?: HistoryPage) => {
    asked = [];
    const ledger = {
      get size() {
        return entries.length;
      },
      envelope: async (at: number) => entries[at] ?? expect.fail(`no entry ${at}`),
    };
    const proposals = {
      ofTask: (of: string, most: number) => {
        asked.push(of, most);
        return held.filter((one) => one.taskId === of);
      },
      content: async (id: string) => {
        asked.push(id);
        return held.find((one) => one.id === id);
      },
    };
    return readTaskStatus(taskId, { ledger, index, held: proposals } as never, page);
  };
  const places = async (page?: HistoryPage) => {
    const { settled, next, latest } = await read("t", page);
    return [settled.map((one) => one.index), next, latest?.index];
  };

  it("is empty for a task that nobody has named", async () => {
    add("other");
    expect(await read("t")).to.deep.equal({
      ...{ latest: undefined, settled: [], next: null, held: [], isHeldLast: false, consensus: null },
    });
    expect(asked).to.deep.equal(["t", 100]);
  });

  it("has the hash, parent, position and time of each entry", async () => {
    add("other");
    add("t");
    const entry = { hash: hashOf(1), index: 1, timestamp: 1_000.5, parent_hash: hashOf(0) };
    expect(await read("t")).to.deep.include({ latest: entry, settled: [entry], next: null });
  });

  it("gives its history page by page, oldest first, and always the newest entry", async () => {
    for (let n = 0; n < 5; n++) add("t");
    expect(await places({ limit: 2 })).to.deep.equal([[3, 4], 3, 4]);
    expect(await places({ limit: 2, before: 3 })).to.deep.equal([[1, 2], 1, 4]);
    expect(await places({ limit: 2, before: 1 })).to.deep.equal([[0], null, 4]);
    expect(await places({ limit: 2, before: 2 })).to.deep.equal([[0, 1], null, 4]);
    expect(await places({ limit: 2, before: 0 })).to.deep.equal([[], null, 4]);
    expect(await places({ limit: 5 })).to.deep.equal([[0, 1, 2, 3, 4], null, 4]);
  });

  it("gives twenty entries if the request names no number", async () => {
    expect([DEFAULT_HISTORY, MAX_HISTORY]).to.deep.equal([20, 100]);
    for (let n = 0; n < 21; n++) add("t");
    const [settled, next] = await places();
    expect([settled, next]).to.deep.equal([Array.from({ length: 20 }, (_, n) => n + 1), 1]);
  });

  it("refuses to begin before an entry of another task, or one that does not exist", async () => {
    add("other");
    add("t");
    for (const before of [0, 2, 3]) {
      const error = await read("t", { limit: 2, before }).catch((it) => it as InvalidInputError);
      expect(error, String(before)).to.deep.include({
        issues: [{ field: "before", message: "is not the position of an entry of this task" }],
      });
    }
  });

  it("leaves out an entry of another task that the index gives by mistake", async () => {
    add("t");
    add("other");
    index.indexesOfTask = () => [0, 1];
    expect(await places()).to.deep.equal([[0], null, 0]);
    index.indexesOfTask = () => [1];
    expect(await places({ limit: 1, before: 0 })).to.deep.equal([[], null, undefined]);
  });

  it("lists what is held, each with its review", async () => {
    hold("p", GENESIS_HASH);
    hold("q", GENESIS_HASH);
    hold("r", GENESIS_HASH, "other");
    say("review", 1, { proposal: "q", decision: "reject" });
    const one = { timestamp: 5, divergence: 0.5 };
    expect((await read("t")).held).to.deep.equal([
      { id: "p", ...one },
      { id: "q", ...one, review: { decision: "reject", hash: hashOf(0) } },
    ]);
  });

  it("says whether the last proposal was held after the newest entry, by the head on which it was made", async () => {
    const isHeldLast = async () => (await read("t")).isHeldLast;
    hold("first", GENESIS_HASH);
    expect(await isHeldLast(), "nothing is settled").to.equal(true);
    expect(asked).to.deep.equal(["t", 100]);
    add("t");
    expect(await isHeldLast(), "on no entry").to.equal(false);
    add("other");
    for (const [at, isLast] of [
      [0, true],
      [1, true],
    ] as const) {
      hold(`on ${at}`, hashOf(at));
      expect(await isHeldLast(), `on entry ${at}`).to.equal(isLast);
    }
    add("t");
    expect(await isHeldLast(), "on the entry before").to.equal(false);
    expect(asked).to.deep.equal(["t", 100, "on 1"]);
  });

  it("has its proposals with the number of their votes, and the one that is final", async () => {
    say("stake", 1, { task_id: "t", proposal: "p" });
    const staked = { proposal: "p", staker: agent(1), index: 0, verifies: [], contests: [] };
    expect((await read("t")).consensus).to.deep.equal({
      ...{ final: null, finalAt: null },
      proposals: [{ ...staked, verifyCount: 0, contestCount: 0 }],
    });
    for (const by of [2, 3]) say("verify", by, { task_id: "t", proposal: "p" });
    expect((await read("t")).consensus).to.deep.include({ final: "p", finalAt: 2 });
    for (let n = 0; n < 101; n++) say("stake", 1, { task_id: "many", proposal: `p${n}` });
    expect((await read("many")).consensus?.proposals).to.have.length(100);
  });

  it("is refused while the index lacks entries", async () => {
    index.refuse(new TallystickError({ code: "index_unavailable", message: "The disk is full." }));
    expect(await read("t").catch(({ code }) => code)).to.equal("index_unavailable");
  });
});
