import { expect } from "chai";
import fc from "fast-check";
import type { Hex } from "tallystick-protocol/hex";
import { type Authorization, Authorizations } from "../../../indexer/src/handlers/authorizations.ts";

type TokenLog = { block: number; hash: Hex; log: number; tx: Hex; wallet: string; isUse: boolean };

/** Blocks of the token's logs, with so few wallets and transactions that many logs look similar. */
const chain: fc.Arbitrary<TokenLog[]> = fc
  .array(
    fc.record({
      newBlock: fc.integer({ min: 0, max: 3 }),
      gap: fc.integer({ min: 1, max: 2 }),
      tx: fc.constantFrom<Hex>("0x01", "0x02"),
      wallet: fc.constantFrom("0xaa", "0xbb"),
      isUse: fc.boolean(),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((steps) => {
    let [block, log] = [1, 0];
    return steps.map(({ newBlock, gap, ...rest }) => {
      [block, log] = newBlock === 0 ? [block + 1, 0] : [block, log + gap];
      return { block, hash: `0xf0${block}` as Hex, log, ...rest };
    });
  });

/** The result for each transfer in a process that reads these logs. `kept` is the content of the database. */
async function read(process: Authorizations, logs: TokenLog[], database: { kept: Authorization | null }) {
  const answers: string[] = [];
  let asked = 0;
  for (const it of logs) {
    if (it.isUse) {
      database.kept = process.used(it, it.wallet);
      continue;
    }
    const last = async () => {
      asked++;
      return database.kept;
    };
    answers.push(`${it.hash}/${it.log} ${await process.isAuthorized(it, it.wallet, last)}`);
  }
  return { answers, asked };
}

/** The expected answer for each transfer, from the log before it. */
function expected(logs: TokenLog[], all: TokenLog[]): string[] {
  return logs
    .filter(({ isUse }) => !isUse)
    .map(({ hash, log, tx, wallet }) => {
      const before = all.find((it) => it.hash === hash && it.log === log - 1);
      const is = before?.isUse === true && before.tx === tx && before.wallet === wallet;
      return `${hash}/${log} ${is}`;
    });
}

describe("Authorizations", () => {
  it("knows which transfers were authorized when a new process begins at any log, also between a use and its transfer", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(30), async (logs, cut) => {
        const database = { kept: null };
        const first = await read(new Authorizations(), logs.slice(0, cut), database);
        const second = await read(new Authorizations(), logs.slice(cut), database);
        expect([...first.answers, ...second.answers]).to.deep.equal(expected(logs, logs));
      }),
    );
  });

  it("knows which transfers were authorized after the chain goes back to a fork, or goes back because an attempt failed", async () => {
    await fc.assert(
      fc.asyncProperty(
        chain,
        chain,
        fc.nat(30),
        fc.nat(30),
        fc.boolean(),
        async (logs, other, to, by, forks) => {
          const process = new Authorizations();
          const database: { kept: Authorization | null } = { kept: null };
          const at = Math.min(logs.length, Math.max(0, to - by));
          const before = await read(process, logs.slice(0, at), database);
          const { kept } = database;
          await read(process, logs.slice(at, to), database);
          database.kept = kept;
          const end = logs[at - 1]?.block ?? 0;
          // The fork has other blocks after this one, with other hashes.
          const fork = other.map((it) => ({ ...it, block: it.block + end, hash: `0xf1${it.block}` as Hex }));
          const rest = forks ? fork : logs.slice(at);
          const after = await read(process, rest, database);
          const all = [...logs.slice(0, at), ...rest];
          expect([...before.answers, ...after.answers]).to.deep.equal(expected(all, all));
        },
      ),
    );
  });

  it("asks the database once for each block", async () => {
    const log = (n: number, isUse: boolean): TokenLog => ({
      block: 1,
      hash: "0xf01",
      log: n,
      tx: "0x01",
      wallet: "0xaa",
      isUse,
    });
    const logs = [log(0, false), log(1, true), log(2, false), log(3, false), log(4, true), log(5, false)];
    const { answers, asked } = await read(new Authorizations(), logs, { kept: null });
    expect(answers.map((it) => it.split(" ")[1])).to.deep.equal(["false", "true", "false", "true"]);
    expect(asked).to.equal(1);
  });
});
