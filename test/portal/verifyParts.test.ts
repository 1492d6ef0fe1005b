import { expect } from "chai";
import { entryLine, GENESIS_HASH, sealEntry } from "tallystick-protocol/ledger/entry";
import type { VerifiedPart } from "../../portal/verify/ledgerPartWorker.ts";
import { verifyLedgerFile } from "../../portal/verify/verifyLedgerFile.ts";

type Message = { number: number; part: Blob };

/** A canonical ledger with few, long entries. It is large enough for several workers. */
function largeLedger(): string {
  let parentHash = GENESIS_HASH;
  const lines = Array.from({ length: 150 }, (_, n) => {
    const payload = { type: "settlement" as const, data_update: { text: `${n}`.padEnd(60_000, "x") } };
    const entry = sealEntry({ timestamp: 1_767_225_600 + n, taskId: `task-${n}`, parentHash, payload });
    parentHash = entry.currentHash;
    return entryLine(entry);
  });
  return `${lines.join("\n")}\n`;
}

/** Runs the workers' program in this process. In `verify.test.ts` real workers in Chromium run it. */
describe("a ledger file that is verified in parts", () => {
  const scope = globalThis as { [name: string]: unknown };
  const names = ["Worker", "addEventListener", "postMessage"] as const;
  const own = names.map((name) => Object.getOwnPropertyDescriptor(scope, name));
  let text: string;
  /** The listener of the workers' program. Below it, the worker that waits for each part. */
  let hear: (event: { data: Message }) => void = () => {};
  const waiting = new Map<number, LocalWorker>();

  class LocalWorker {
    onmessage: (event: { data: VerifiedPart }) => void = () => {};
    postMessage(data: Message): void {
      waiting.set(data.number, this);
      hear({ data });
    }
    terminate(): void {}
  }

  before(async () => {
    scope.Worker = LocalWorker;
    scope.addEventListener = (_: string, listener: typeof hear) => {
      hear = listener;
    };
    scope.postMessage = (data: VerifiedPart) => waiting.get(data.number)?.onmessage({ data });
    Object.defineProperty(globalThis.navigator, "hardwareConcurrency", { value: 2, configurable: true });
    await import("../../portal/verify/ledgerPartWorker.ts");
    text = largeLedger();
  });
  after(() => {
    for (const [n, name] of names.entries()) {
      const was = own[n];
      if (was === undefined) delete scope[name];
      else Object.defineProperty(scope, name, was);
    }
    delete (globalThis.navigator as { hardwareConcurrency?: number }).hardwareConcurrency;
  });

  /**
   * What the page says about the file. `broken` is the number of the part that cannot be read, from 1. With 0 every
   * part can be read.
   */
  const said = async (broken: number) => {
    const file = new Blob([text]);
    const slice = file.slice.bind(file);
    let parts = 0;
    file.slice = (start, end) => {
      const part = slice(start, end);
      const isPart = Number(end) - Number(start) > 1 << 17;
      if (isPart && ++parts === broken)
        part.arrayBuffer = () => Promise.reject(new DOMException("gone", "NotReadableError"));
      return part;
    };
    const { checks } = await verifyLedgerFile(file, () => {});
    return {
      states: checks.map(({ state }) => state).join(),
      all: `${checks[0]?.text} ${checks[0]?.detail}`,
    };
  };

  it("is verified by several workers", async () => {
    expect((await said(0)).all).to.match(/^All 150 entries verify .* 2 workers shared the file\.$/);
  });

  it("is read line by line if one of its parts cannot be read, for example because the file changes", async () => {
    for (const broken of [1, 3]) {
      const { states, all } = await said(broken);
      expect(states, `part ${broken}`).to.equal("yes,yes,yes,open");
      expect(all)
        .to.match(/^All 150 entries verify/)
        .and.not.contain("workers");
    }
  });
});
