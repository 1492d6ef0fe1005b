import { expect } from "chai";
import * as fc from "fast-check";
import pg from "pg";
import { CREATE_KEPT_LINES, KeptLines, LINES_PER_ROW, readKeptLines } from "../../indexer/keptLines.ts";
import { testDatabase } from "../support/testDatabase.ts";

const ROOM = 1 << 30;

describe("the lines of followed ledgers", () => {
  let pool: pg.Pool;
  let kept: KeptLines;
  let ledgers = 0;
  let ledger: string;

  before(async () => {
    pool = new pg.Pool({ connectionString: await testDatabase(), max: 4 });
    pool.on("error", () => {});
    await pool.query(`CREATE SCHEMA ops; ${CREATE_KEPT_LINES}`);
    kept = new KeptLines(pool, async () => {});
  });
  after(async () => {
    await pool?.end();
  });
  beforeEach(() => {
    ledger = `0x${(ledgers++).toString(16).padStart(64, "0")}`;
  });

  const lines = (from: number, to: number, fork = "a") =>
    Array.from({ length: to - from }, (_, n) => `{"${fork}": ${from + n}}`);
  const read = (id: string, from: number, to: number, maxBytes: number) =>
    readKeptLines(
      async (part) => {
        const text = "SELECT lines FROM ops.ledger_lines WHERE ledger = $1 AND part = $2";
        return (await pool.query<{ lines: Buffer }>(text, [id, part])).rows[0]?.lines;
      },
      { from, to, maxBytes },
    );
  const all = (size: number) => read(ledger, 0, size, ROOM);

  it("come back as they were stored, with any segments", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 6 }), async (sizes) => {
        const id = `0x${(ledgers++).toString(16).padStart(64, "0")}`;
        let size = 0;
        for (const count of sizes) {
          expect(await kept.keep(id, size, lines(size, size + count))).to.equal(true);
          size += count;
        }
        expect(await read(id, 0, size, ROOM)).to.deep.equal(lines(0, size));
        const [from, to] = [Math.floor(size / 3), Math.ceil((2 * size) / 3)];
        expect(await read(id, from, to, ROOM)).to.deep.equal(lines(from, to));
      }),
      { numRuns: 15, seed: 14 },
    );
  });

  it("belong to the latest history: lines that a reorg took back are overwritten", async () => {
    await kept.keep(ledger, 0, lines(0, 300));
    await kept.keep(ledger, 300, lines(300, 1_000));
    await kept.keep(ledger, 300, lines(300, 420, "b"));
    expect(await all(420)).to.deep.equal([...lines(0, 300), ...lines(300, 420, "b")]);
    // No line of the other history is left after these lines.
    expect(await all(1_000)).to.have.length(420);
    expect(await read(ledger, 420, 1_000, ROOM)).to.deep.equal([]);
  });

  it("stay when another indexer on the same database reads the ledger from its beginning", async () => {
    await kept.keep(ledger, 0, lines(0, 900));
    for (const [from, to] of [
      [0, 10],
      [10, 256],
      [256, 600],
    ] as const) {
      await kept.keep(ledger, from, lines(from, to));
      expect(await all(900)).to.deep.equal(lines(0, 900));
    }
  });

  it("are stored once when several processes store them at the same time", async () => {
    await Promise.all(Array.from({ length: 8 }, () => kept.keep(ledger, 0, lines(0, 500))));
    expect(await all(500)).to.deep.equal(lines(0, 500));
  });

  it("end before a gap, which `keep` reports", async () => {
    expect(await kept.keep(ledger, 100, lines(100, 600))).to.equal(false);
    expect(await all(600)).to.deep.equal([]);
    expect(await read(ledger, LINES_PER_ROW, 600, ROOM)).to.deep.equal(lines(LINES_PER_ROW, 600));
    expect(await kept.keep(ledger, 0, lines(0, 600))).to.equal(true);
    expect(await all(600)).to.deep.equal(lines(0, 600));
  });

  it("are written in several statements if they are long, and come back", async () => {
    const long = lines(0, 3 * LINES_PER_ROW).map((line, n) => line.padEnd(n < LINES_PER_ROW ? 0 : 40_000));
    let written: number[] = [];
    const counted = {
      connect: async () => {
        const client = await pool.connect();
        const query = (sql: string, values: unknown[]) => {
          if (sql.includes("INSERT")) written.push((values[1] as number[]).length);
          return client.query(sql, values);
        };
        return { query, release: (failure?: Error) => client.release(failure) };
      },
    } as never;
    expect(await new KeptLines(counted, async () => {}).keep(ledger, 0, long)).to.equal(true);
    expect(written).to.deep.equal([2, 1]);
    expect(await all(long.length)).to.deep.equal(long);
    written = [];
    await new KeptLines(counted, async () => {}).keep(`${ledger}0`, 0, lines(0, 65 * LINES_PER_ROW));
    expect(written).to.deep.equal([64, 1]);
  });

  it("end before a row becomes too large to be read, which `keep` reports", async () => {
    const long = lines(0, 2 * LINES_PER_ROW).map((line, n) => line.padEnd(n < LINES_PER_ROW ? 65_535 : 0));
    expect(await kept.keep(ledger, 0, long), "lines of the greatest length of a service").to.equal(true);
    expect(await all(long.length)).to.deep.equal(long);
    const longer = long.with(7, (long[7] as string).padEnd(65_536));
    expect(await kept.keep(ledger, 0, longer)).to.equal(false);
    expect(await all(long.length)).to.deep.equal(longer.slice(0, LINES_PER_ROW - 1));
    expect(await kept.keep(ledger, LINES_PER_ROW, longer.slice(LINES_PER_ROW))).to.equal(true);
  });

  it("are read by whole rows up to a number of bytes, and at least one row is read", async () => {
    await kept.keep(ledger, 0, lines(0, 1_000));
    expect(await read(ledger, 0, 1_000, 1)).to.have.length(LINES_PER_ROW);
    expect(await read(ledger, 10, 20, 1)).to.deep.equal(lines(10, 20));
  });
});
