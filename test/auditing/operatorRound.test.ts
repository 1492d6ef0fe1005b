import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { createFinalAccounts, createFinalSet } from "../../services/auditing/finalAccounts.ts";
import type { OpenAssignment, RolledBackEscrow } from "../../services/auditing/operatorNode.ts";
import { createRound, freshState, type RoundParameters } from "../../services/auditing/operatorRound.ts";

const AUDITOR = `0x${"a1".repeat(20)}` as Address;
const POOL = `0x${"b0".repeat(20)}` as Address;
const forever = new AbortController().signal;

describe("the final part of a node's answers", () => {
  const account = (accrued: bigint) => [{ auditor: AUDITOR, accrued, paid: 3n }];
  const amountsOf = (rounds: [accrued: bigint, time: number, finalTime: number][]) => {
    const final = createFinalAccounts();
    return rounds.map(
      ([accrued, time, finalTime]) => final(account(accrued), { time, finalTime })[0]?.accrued,
    );
  };

  it("has an amount as soon as a tick after its reading is final, because the amount may have blocks up to that tick", () => {
    expect(amountsOf([[5n, 100, 200]])).to.deep.equal([0n]);
    expect(
      amountsOf([
        [5n, 100, 50],
        [9n, 200, 100],
        [9n, 300, 199],
        [9n, 400, 200],
        [9n, 400, 300],
      ]),
    ).to.deep.equal([0n, 0n, 0n, 5n, 9n]);
  });

  it("has no more than the node says now, and no amount of a tick that a reorganization removed", () => {
    expect(
      amountsOf([
        [5n, 100, 50],
        [2n, 200, 200],
        [5n, 300, 300],
      ]),
    ).to.deep.equal([0n, 2n, 2n]);
    // There are two ticks of time 200, because a reorganization removed the first of them.
    expect(
      amountsOf([
        [9n, 200, 50],
        [4n, 200, 60],
        [9n, 300, 300],
      ]),
    ).to.deep.equal([0n, 0n, 4n]);
  });

  it("has the items that every list has had since before a final tick", () => {
    const final = createFinalSet<{ id: string }>();
    const ids = (items: string[], time: number, finalTime: number) =>
      final(
        items.map((id) => ({ id })),
        { time, finalTime },
      ).map(({ id }) => id);
    expect(ids(["a"], 100, 100)).to.deep.equal([]);
    expect(ids(["a", "b"], 200, 199)).to.deep.equal([]);
    expect(ids(["a", "b"], 200, 200)).to.deep.equal(["a"]);
    expect(ids(["b"], 300, 300)).to.deep.equal(["b"]);
    expect(ids(["a", "b"], 400, 400), "one list did not have it").to.deep.equal(["b"]);
  });
});

describe("a round of an operator", () => {
  /** Plays rounds with a node at time 200 and a chain that is final up to 100. Returns what they did, and the state. */
  const play = async (changes: Partial<RoundParameters> = {}, node: object = {}, rounds = 1) => {
    const did = { paid: 0, offered: [] as number[], anchored: [] as boolean[], refunded: 0 };
    const state = freshState();
    const parameters = {
      node: {
        status: async () => ({ time: 200, isBlocked: false }),
        rules: async () => ({ pool: POOL, auditArbiters: [], fees: [] }),
        accounts: async () => [],
        openAssignments: async () => [99, 100, 101].map((time) => ({ time }) as OpenAssignment),
        rolledBackEscrows: async () => ({
          held: [{ id: "0x01" } as unknown as RolledBackEscrow],
          settled: [],
          unread: new Set(),
        }),
        challenged: async () => [],
        anchoredAt: async ({ index }: { index: number }) => [100, 101, undefined][index],
        ...node,
      },
      payments: {
        follow: async () => ({ settled: 7n, waiting: 2, refused: 0 }),
        pay: async () => {
          did.paid++;
          return { settled: 0n, waiting: 1, refused: 1 };
        },
      },
      hires: {
        round: async (assignments: readonly OpenAssignment[]) => {
          did.offered.push(...assignments.map(({ time }) => time));
          return { taken: 0, reminded: 0, failed: 0 };
        },
      },
      refunds: {
        round: async (escrows: readonly unknown[]) => {
          did.refunded += escrows.length;
          return escrows.length;
        },
      },
      canaries: {
        round: async (
          { isAnchored }: { isAnchored: (entry: object) => Promise<boolean> },
          _: AbortSignal,
          tell: (open: number) => void,
        ) => {
          for (const index of [0, 1, 2]) did.anchored.push(await isAnchored({ ledger: "local", index }));
          tell(1);
        },
      },
      ...{ pool: POOL, finalTime: async () => 100, budgetLeft: async () => 5n, payAfter: 100 },
      ...{ now: () => 9_000, log: () => {}, ...changes },
    } as unknown as RoundParameters;
    const round = createRound(parameters, state, forever);
    for (let n = 0; n < rounds; n++) await round();
    return { did, state };
  };

  it("has failed if the budget cannot be read, and keeps the last figure", async () => {
    const said: string[] = [];
    const { did, state } = await play({
      budgetLeft: async () => {
        throw new Error("the chain does not answer");
      },
      log: (sentence, details) => said.push(`${sentence} ${details?.part}`),
    });
    expect(did.paid).to.equal(1);
    expect(state).to.deep.include({ failures: 1, roundAt: 0, budgetAtomic: 0n });
    expect(said.join()).to.contain("the budget");
  });

  it("offers, refunds and hires only by what no reorganization can undo", async () => {
    const { did, state } = await play();
    expect(did).to.deep.equal({ paid: 1, offered: [99, 100], anchored: [true, false, false], refunded: 0 });
    expect(state).to.deep.include({
      ...{ openAssignments: 3, paymentsWaiting: 3, paymentsRefused: 1, paidAtomic: 7n, canariesOpen: 1 },
      ...{ failures: 0, roundAt: 9, budgetAtomic: 5n },
    });
  });

  it("decides no payment before `payAfter`, and decides nothing if the node is blocked or names another pool", async () => {
    expect((await play({ payAfter: 101 })).did).to.include({ paid: 0 });
    const isBlocked = { status: async () => ({ time: 200, isBlocked: true }) };
    const ofOthers = { rules: async () => ({ pool: AUDITOR, auditArbiters: [], fees: [] }) };
    for (const node of [isBlocked, ofOthers]) {
      const { did, state } = await play({}, node);
      expect(did).to.deep.equal({ paid: 0, offered: [], anchored: [], refunded: 0 });
      expect(state, "payments on their way are followed").to.deep.include({
        paidAtomic: 7n,
        failures: 1,
        roundAt: 0,
      });
    }
  });

  it("asks for the tick after it has read amounts and escrows, because a tick may come meanwhile", async () => {
    const asked: string[] = [];
    const noting = (name: string, answer: object) => async () => {
      asked.push(name);
      return answer;
    };
    await play(
      {},
      {
        status: noting("status", { time: 200, isBlocked: false }),
        accounts: noting("accounts", []),
        rolledBackEscrows: noting("escrows", { held: [], settled: [], unread: new Set() }),
      },
    );
    expect(asked).to.deep.equal(["status", "accounts", "status", "escrows", "status"]);
  });

  it("refunds an escrow that a reorganization makes unsettled again, and asks no more for one that stays settled", async () => {
    const it = { id: "0x01" } as unknown as RolledBackEscrow;
    const [held, settled] = [
      { held: [it], settled: [], unread: new Set() },
      { held: [], settled: [it], unread: new Set() },
    ];
    const { did, asked } = await playAnswers([
      ...[settled, held, held, held],
      ...[settled, settled, settled, settled],
    ]);
    expect(did.refunded).to.equal(1);
    expect(asked).to.deep.equal([...Array(7).fill(true), false]);
    const unread = { held: [], settled: [], unread: new Set(["0x01"]) };
    const { asked: again } = await playAnswers([settled, unread, settled, settled]);
    expect(again, "one answer was missing").to.deep.equal([true, true, true, false]);
  });

  it("refunds the other escrows if one cannot be read, and counts a failure; an escrow read earlier keeps its time", async () => {
    const [one, two] = ["0x01", "0x02"].map((id) => ({ id }) as unknown as RolledBackEscrow);
    const whole = { held: [one, two], settled: [], unread: new Set() };
    const partly = { held: [two], settled: [], unread: new Set(["0x01"]), reason: new Error("unreadable") };
    const { did, state } = await playAnswers([whole, partly, partly]);
    expect([did.refunded, state.failures, state.roundAt]).to.deep.equal([1, 2, 9]);
    const { did: later, state: then } = await playAnswers([whole, partly, whole]);
    expect([later.refunded, then.failures]).to.deep.equal([2, 1]);
  });

  /** Plays one round for each answer about escrows. In every round the node's tick of the round before becomes final. */
  async function playAnswers(answers: object[]) {
    const asked: boolean[] = [];
    let at = 0;
    const played = await play(
      { finalTime: async () => at },
      {
        status: async () => ({ time: at, isBlocked: false }),
        rules: async () => {
          at += 100;
          return { pool: POOL, auditArbiters: [], fees: [] };
        },
        rolledBackEscrows: async (over: ReadonlySet<string>) => {
          asked.push(!over.has("0x01"));
          return answers[asked.length - 1];
        },
      },
      answers.length,
    );
    return { ...played, asked };
  }
});
