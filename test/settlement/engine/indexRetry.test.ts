import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { IndexRetry } from "../../../services/settlement/engine/indexRetry.ts";
import { openGate } from "../support/openGate.ts";

describe("an index that the disk refused", () => {
  const real = globalThis.setTimeout;
  let due: (() => void)[];
  let waits: number[];
  beforeEach(() => {
    [due, waits] = [[], []];
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      waits.push(ms);
      due.push(run);
      return { unref: () => {} };
    }) as never;
  });
  afterEach(() => {
    globalThis.setTimeout = real;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const refusal = new TallystickError({ code: "index_unavailable", message: "The disk is full." });
  /** What the retry itself logs; the gate has a log of its own. */
  let logged: { [field: string]: unknown }[];
  const open = (answers: boolean[]) => {
    const { gate } = openGate();
    logged = [];
    const retry = new IndexRetry(gate, (sentence, fields) => logged.push({ sentence, ...fields }));
    const read: number[] = [];
    const index = {
      catchUp: async (entry: (at: number) => Promise<number>) => {
        read.push(await entry(answers.length));
        return answers.shift();
      },
    };
    const attach = () => retry.attach(index as never, { entry: async (at: number) => at } as never);
    return { gate, retry, read, attach };
  };

  it("keeps writes out until it is complete again, and is tried every second", async () => {
    const { gate, retry, read, attach } = open([false, true]);
    attach();
    retry.refused(refusal);
    expect(gate.refusal).to.equal(refusal);
    for (let n = 0; n < 2; n++) {
      due.shift()?.();
      await turn();
    }
    expect([read, waits, due.length]).to.deep.equal([[2, 1], [1_000, 1_000], 0]);
    expect(gate.refusal).to.equal(undefined);
  });

  it("is tried again if the ledger could not be read", async () => {
    const { gate, retry } = open([]);
    const answers = [() => Promise.reject(new Error("EIO: i/o error, read")), async () => true];
    retry.attach({ catchUp: () => answers.shift()?.() } as never, {} as never);
    retry.refused(refusal);
    due.shift()?.();
    await turn();
    expect([gate.refusal, due.length]).to.deep.equal([refusal, 1]);
    due.shift()?.();
    await turn();
    await retry.stop();
    expect([gate.refusal, due.length]).to.deep.equal([undefined, 0]);
  });

  it("logs each new error once, with its code and what to do, until it is complete", async () => {
    const { retry } = open([]);
    const eio = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });
    const torn = new SyntaxError("Unexpected token");
    const readOnly = new TallystickError({
      code: "index_unavailable",
      message: "The ledger's index cannot be used: attempt to write a readonly database.",
      hint: "Check the disk.",
    });
    const steps: (Error | TallystickError | true)[] = [
      refusal,
      eio,
      eio,
      readOnly,
      torn,
      eio,
      readOnly,
      true,
      eio,
    ];
    const index = {
      behind: refusal,
      catchUp: async () => {
        const next = steps.shift();
        if (next === true) return true;
        if (!(next instanceof TallystickError)) throw next;
        index.behind = next;
        return false;
      },
    };
    retry.attach(index as never, {} as never);
    retry.refused(refusal);
    const codes: unknown[][] = [];
    while (steps.length > 0) {
      if (due.length === 0) retry.refused(refusal);
      due.shift()?.();
      await turn();
      codes.push(logged.splice(0).map(({ code }) => code));
    }
    // The first reason is the one that the gate has logged.
    expect(codes).to.deep.equal([[], ["EIO"], [], ["index_unavailable"], ["unknown"], [], [], [], ["EIO"]]);
  });

  it("says in its log what to do", async () => {
    const { retry } = open([]);
    const steps = [Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" })];
    retry.attach({ catchUp: () => Promise.reject(steps.shift()) } as never, {} as never);
    retry.refused(refusal);
    due.shift()?.();
    await turn();
    expect(logged).to.deep.equal([
      {
        sentence: "The index cannot be completed, so nothing can be written. It is tried again every second.",
        code: "EIO",
        reason: "EIO: i/o error, read",
        hint: "Check the disk and the ledger's folder (tallystick ledger fsck), and start the service again.",
      },
    ]);
  });

  it("waits while the ledger is not open yet", async () => {
    const { gate, retry, read } = open([true]);
    retry.refused(refusal);
    due.shift()?.();
    await turn();
    expect([read, gate.refusal]).to.deep.equal([[], refusal]);
  });

  it("is not tried any more when the service stops, which waits for an attempt that is under way", async () => {
    const { gate, retry, read, attach } = open([false]);
    attach();
    retry.refused(refusal);
    due.shift()?.();
    await retry.stop();
    expect(read).to.deep.equal([1]);
    retry.refused(refusal);
    await turn();
    expect([due.length, waits.length, gate.refusal]).to.deep.equal([0, 1, refusal]);
  });
});
