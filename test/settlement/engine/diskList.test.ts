import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { DiskList, lengthOf } from "../../../services/settlement/engine/diskList.ts";

const WIDTH = 4;
/** A record that no other position has, without a zero record. */
const record = (n: number) => Uint8Array.of(1, n & 0xff, (n >> 8) & 0xff, n >> 16);

describe("a list on disk", () => {
  let database: DatabaseSync;
  let reads: number;
  const open = (length: number, list = 1) => {
    const get = database.prepare("SELECT bytes FROM piece WHERE list = ? AND number = ?");
    const put = database.prepare("INSERT OR REPLACE INTO piece VALUES (?, ?, ?)");
    const counted = {
      get: (...of: number[]) => {
        reads++;
        return get.get(...of);
      },
    };
    return new DiskList({ get: counted as never, put }, { list, width: WIDTH, length });
  };
  beforeEach(() => {
    reads = 0;
    database = new DatabaseSync(":memory:");
    database.exec(
      "CREATE TABLE piece (list INTEGER, number INTEGER, bytes BLOB, PRIMARY KEY (list, number))",
    );
  });
  afterEach(() => database.close());
  const fill = (list: DiskList, from: number, to: number) => {
    for (let n = from; n < to; n++) list.push(record(n));
  };
  const expectAll = (list: DiskList, to: number) => {
    for (let n = 0; n < to; n++) if (list.at(n).join() !== record(n).join()) expect.fail(`record ${n}`);
  };
  const save = (list: DiskList) => {
    list.write();
    list.committed();
  };

  it("has every record in its place before and after it is written, and in the next process", () => {
    const list = open(0);
    fill(list, 0, 600);
    expectAll(list, 600);
    save(list);
    fill(list, 600, 700);
    expectAll(list, 700);
    // These records were not written.
    const next = open(600);
    expectAll(next, 600);
    fill(next, 600, 1_100);
    save(next);
    expectAll(open(1_100), 1_100);
    expect(database.prepare("SELECT * FROM piece").all()).to.have.length(5);
  });

  it("keeps records that a failed transaction did not write, for the next one", () => {
    const list = open(0);
    fill(list, 0, 300);
    database.exec("BEGIN");
    list.write();
    database.exec("ROLLBACK");
    fill(list, 300, 310);
    save(list);
    expectAll(open(310), 310);
  });

  it("keeps the last 64 pieces in memory, and reads others once", () => {
    const length = 66 * 256;
    save(
      ((list) => {
        fill(list, 0, length);
        return list;
      })(open(0)),
    );
    const list = open(length);
    const look = (piece: number) => {
      list.at(piece * 256 + 7);
      return reads;
    };
    for (let piece = 0; piece < 64; piece++) look(piece);
    expect([look(0), look(63)]).to.deep.equal([64, 64]);
    expect(look(64), "piece 0 is forgotten").to.equal(65);
    expect([look(1), look(0)]).to.deep.equal([65, 66]);
  });

  it("is not shared by lists with other numbers, and names a piece that is missing or damaged", () => {
    const list = open(0, 1);
    fill(list, 0, 10);
    save(list);
    expect(() => open(10, 2).at(3)).to.throw("piece 0 of list 2 is missing");
    expect(() => open(300, 1).at(256)).to.throw("piece 1 of list 1 is missing");
    database.exec("UPDATE piece SET bytes = x'00'");
    expect(() => open(10, 1).at(3)).to.throw("piece 0 of list 1 is missing");
  });

  it("has a length that follows from its last piece", () => {
    const bytes = new Uint8Array(256 * WIDTH);
    expect(lengthOf(undefined, WIDTH)).to.equal(0);
    expect(lengthOf({ number: 2, bytes }, WIDTH)).to.equal(512);
    for (const [at, length] of [
      [0, 1],
      [3, 1],
      [4, 2],
      [1_023, 256],
    ] as const) {
      const filled = bytes.slice();
      filled[at] = 1;
      expect(lengthOf({ number: 2, bytes: filled }, WIDTH), String(at)).to.equal(512 + length);
    }
    expect(lengthOf({ number: 0, bytes: bytes.slice(1) }, WIDTH)).to.be.NaN;
  });
});
