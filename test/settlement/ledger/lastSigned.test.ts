import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import type { LedgerOnChain } from "../../../services/settlement/anchoring/readLedgerOnChain.ts";
import { adoptLedger } from "../../../services/settlement/ledger/adoptLedger.ts";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import {
  LAST_SIGNED_FILE,
  readLastSigned,
  writeLastSigned,
} from "../../../services/settlement/ledger/lastSigned.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const WRITER = `0x${"aa".repeat(20)}` as const;
const ROOT = `0x${"12".repeat(32)}` as const;

describe("the record of the last signature", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, LAST_SIGNED_FILE);

  it("is read as it was written, and is undefined before", async () => {
    expect(await readLastSigned(folder.path)).to.equal(undefined);
    await writeLastSigned(folder.path, { size: 7, root: ROOT });
    await writeLastSigned(folder.path, { size: 9, root: ROOT });
    expect(await readLastSigned(folder.path)).to.deep.equal({ size: 9, root: ROOT });
    expect(existsSync(`${file()}.next`)).to.equal(false);
  });

  it("is not guessed from a file with other content", async () => {
    for (const text of [
      "",
      "{}",
      '{"version":1,"size":-1,"root":"0x"}',
      `{"version":2,"size":1,"root":"${ROOT}"}`,
    ]) {
      writeFileSync(file(), text);
      const error = await readLastSigned(folder.path).catch((reason) => reason);
      expect(error, text).to.have.property("code", "bad_last_signed");
      // Strangers read it as the reason why nothing is written.
      expect(error.message, text).not.to.contain(folder.path);
    }
  });
});

describe("a ledger that is adopted", () => {
  const folder = temporaryFolder();

  /** Writes this many entries, and gives the root before the first and after each. */
  async function write(count: number): Promise<`0x${string}`[]> {
    const ledger = await DiskLedger.open({ folder: folder.path });
    for (let n = 0; n < count; n++) {
      await ledger.append({ timestamp: n, taskId: `task-${n}`, payload: { n: BigInt(n) } }).durable;
    }
    const roots = Array.from({ length: count + 1 }, (_, size) => toHex(ledger.tree.root(size)));
    await ledger.close();
    return roots;
  }

  const onChain = (
    size: number,
    root: string,
    changes: object = {},
  ): LedgerOnChain & { expectedWriter: typeof WRITER } => ({
    block: { number: 10n, time: 1n },
    ledger: {
      writer: WRITER,
      head: { size: BigInt(size), root: root as `0x${string}`, time: 1n, seq: 1n },
      isEquivocated: false,
      announced: null,
      formerSize: null,
      ...changes,
    },
    confirmed: undefined,
    expectedWriter: WRITER,
  });
  const refusal = (action: Promise<unknown>): Promise<string> =>
    action.then(
      () => "adopted",
      (error) => error.code,
    );

  it("counts as signed up to its own end without a chain, and is adopted once", async () => {
    const roots = await write(4);
    expect(await adoptLedger(folder.path)).to.deep.equal({ size: 4, root: roots[4] });
    expect(await readLastSigned(folder.path)).to.deep.equal({ size: 4, root: roots[4] });
    expect(await refusal(adoptLedger(folder.path))).to.equal("last_signed_present");
  });

  it("counts as signed up to the contract's head", async () => {
    const roots = await write(4);
    expect(await adoptLedger(folder.path, onChain(3, roots[3] as string))).to.deep.equal({
      size: 3,
      root: roots[3],
    });
  });

  it("is not adopted if the contract has more entries, other entries, or another ledger", async () => {
    const roots = await write(4);
    const attempts: [ReturnType<typeof onChain>, string][] = [
      [onChain(5, ROOT), "chain_ahead"],
      [onChain(3, roots[2] as string), "root_contradicts"],
      [onChain(3, roots[3] as string, { writer: `0x${"bb".repeat(20)}` }), "writer_differs"],
      [onChain(3, roots[3] as string, { isEquivocated: true }), "ledger_equivocated"],
    ];
    for (const [chain, code] of attempts)
      expect(await refusal(adoptLedger(folder.path, chain))).to.equal(code);
    expect(await readLastSigned(folder.path)).to.equal(undefined);
  });

  it("is not adopted while a service writes it, if a line was changed, or if it does not exist", async () => {
    expect(await refusal(adoptLedger(folder.path))).to.equal("no_ledger");
    await write(2);
    const ledger = await DiskLedger.open({ folder: folder.path });
    expect(await refusal(adoptLedger(folder.path))).to.equal("ledger_locked");
    await ledger.close();
    writeFileSync(ledger.path, readFileSync(ledger.path, "latin1").replace("task-0", "task-9"));
    expect(await refusal(adoptLedger(folder.path))).to.equal("ledger_line");
    expect(await readLastSigned(folder.path)).to.equal(undefined);
  });
});
