import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { privateKeyToAccount } from "viem/accounts";
import { Pulse } from "../../services/settlement/pulse.ts";
import { envelope, listingBody } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "./support/testService.ts";

const OPERATOR_KEY = `0x${"66".repeat(32)}` as const;

describe("the pulse", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path, { OPERATOR_PRIVATE_KEY: OPERATOR_KEY });
  });
  afterEach(() => service.close());
  const publish = async (capability: string) =>
    service.post("/v1/listings", await envelope(listingBody({ capability })));

  it("settles the size and the root of the ledger that it read back from disk", async () => {
    await publish("custom.pulse.a");
    const root = toHex(service.ledger.tree.root());
    await service.beat?.();
    const { payload } = await service.ledger.entry(1);
    expect(payload.type).to.equal("pulse");
    const bound = { type: "pulse", ledger: "local" };
    expect(payload.body).to.deep.equal({ ...bound, size: 1n, root, verified_at: BigInt(NOW) });
    expect(payload.signer).to.equal(privateKeyToAccount(OPERATOR_KEY).address.toLowerCase());
    service.clock.now += 300;
    await service.beat?.();
    expect((await service.ledger.entry(2)).payload.body).to.deep.include({ size: 2n });
  });

  it("settles nothing if a line on disk differs from the settled one", async () => {
    for (const one of ["a", "b", "c"]) await publish(`custom.pulse.${one}`);
    const text = readFileSync(service.ledger.path, "latin1");
    writeFileSync(service.ledger.path, text.replace("custom.pulse.b", "custom.pulse.x"));
    const error = await service.beat?.().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(LedgerLineError).with.property("line", 2);
    writeFileSync(service.ledger.path, text);
    await service.beat?.();
    const grown = readFileSync(service.ledger.path, "latin1");
    writeFileSync(service.ledger.path, grown.replace("custom.pulse.a", "custom.pulse.x"));
    const old = await service.beat?.().catch((reason: unknown) => reason);
    expect(old, "an older line is read again").to.be.instanceOf(LedgerLineError).with.property("line", 1);
    expect(service.ledger.size).to.equal(4);
  });

  it("reads older entries again, part by part, and after the last one begins with the first", async () => {
    for (const one of ["a", "b"]) await publish(`custom.pulse.${one}`);
    for (let beats = 0; beats < 3; beats++) await service.beat?.();
    const text = readFileSync(service.ledger.path, "latin1");
    writeFileSync(service.ledger.path, text.replace("custom.pulse.b", "custom.pulse.x"));
    const error = await service.beat?.().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(LedgerLineError).with.property("line", 2);
  });

  it("covers only the entries that it has read in a growing ledger, and reads the rest next time", async () => {
    await publish("custom.pulse.a");
    const { ledger } = service;
    const { linesOf } = ledger;
    const slow = async function* (from: number, to: number) {
      Object.assign(ledger, { linesOf });
      await publish("custom.pulse.b");
      yield* linesOf(from, to);
    };
    Object.assign(ledger, { linesOf: slow });
    await service.beat?.();
    const { body } = (await ledger.entry(2)).payload;
    expect(body).to.deep.include({ size: 1n, root: toHex(ledger.tree.root(1)) });
    const read: number[][] = [];
    const noted = (from: number, to: number) => {
      read.push([from, to]);
      return linesOf(from, to);
    };
    Object.assign(ledger, { linesOf: noted });
    await service.beat?.();
    expect(read).to.deep.equal([
      [0, 1],
      [1, 3],
    ]);
  });

  it("is not made without the operator's key", async () => {
    await service.close();
    service = await openTestService(folder.path);
    expect(service.beat).to.equal(undefined);
  });
});

describe("the pulse of a ledger that was not read whole, or was changed", () => {
  const account = privateKeyToAccount(`0x${"55".repeat(32)}`);
  const pulseOf = (ledger: object) => {
    const did: string[] = [];
    const pulse = new Pulse({
      ledger: {
        verifyGrowth: async () => 1,
        tree: { root: () => new Uint8Array(32) },
        ...ledger,
      } as never,
      engine: { ledgerName: "local", settleRecord: async () => void did.push("settled") } as never,
      ...{ operator: account, intervalMs: 5, now: () => 1_800_000_000 },
      log: (sentence) => void did.push(sentence),
      onFailure: (error) => void did.push(`failure: ${error.message}`),
    });
    return { pulse, did };
  };

  it("waits after a start until the service has read every line of the ledger", async () => {
    for (const [size, wanted] of [
      [undefined, []],
      [1, ["settled"]],
    ] as const) {
      const { pulse, did } = pulseOf({ verifyGrowth: async () => size });
      await pulse.beat();
      expect(did).to.deep.equal(wanted);
    }
  });

  it("ends the process if a line has changed, and only logs errors that may be temporary", async () => {
    for (const [code, isEnd] of [
      ["ledger_line", true],
      ["store_unavailable", false],
    ] as const) {
      const broken = Object.assign(new Error("line 1"), { code });
      const { pulse, did } = pulseOf({ verifyGrowth: () => Promise.reject(broken) });
      pulse.start();
      while (did.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await pulse.stop();
      expect(did[0]).to.equal("The pulse failed.");
      expect(did.includes("failure: line 1"), code).to.equal(isEnd);
      expect(did).not.to.include("settled");
    }
  });
});
