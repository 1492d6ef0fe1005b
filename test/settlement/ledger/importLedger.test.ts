import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { entryLine, GENESIS_HASH, type LedgerEntry, sealEntry } from "tallystick-protocol/ledger/entry";
import type { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { recordTypeNames } from "tallystick-protocol/records/recordTypes";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { importLedger } from "../../../services/settlement/ledger/importLedger.ts";
import { readLastSigned } from "../../../services/settlement/ledger/lastSigned.ts";
import { commandHere } from "../../support/commandHere.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService } from "../support/testService.ts";

const NOW = 1_767_300_000;
const WRITER = `0x${"aa".repeat(20)}` as const;
/** The fields that look-ups use. */
const FIELDS =
  "agent_id attempt breach capability day decision hire hire_id hour issued_at log_index part payment_mode proposal receipt round side task_id tx_hash".split(
    " ",
  );

describe("a ledger that is imported", () => {
  const temporary = temporaryFolder();
  const folder = () => path.join(temporary.path, "ledgers", "local");
  const target = () => path.join(folder(), "ledger.jsonl");

  function write(text: string): string {
    const file = path.join(temporary.path, "theirs.jsonl");
    writeFileSync(file, text);
    return file;
  }

  function entries(count: number, change: (n: number) => Partial<LedgerEntry> = () => ({})): string[] {
    let parentHash = GENESIS_HASH;
    return Array.from({ length: count }, (_, n) => {
      const plain = {
        timestamp: 1_767_225_600.5 + n,
        taskId: `task-${n}`,
        parentHash,
        payload: { n: BigInt(n) },
      };
      const entry = sealEntry({ ...plain, ...change(n) });
      parentHash = entry.currentHash;
      return entryLine(entry);
    });
  }

  const imported = (file: string, more = {}) => importLedger({ file, folder: folder(), now: NOW, ...more });
  const refusal = (action: Promise<unknown>): Promise<LedgerLineError> =>
    action.then(
      () => expect.fail("it was imported"),
      (error) => error,
    );

  it("keeps contents and hashes, in canonical lines, and continues as a ledger of this service", async () => {
    const lines = entries(6, () => ({ payload: { "10": 1n, "9": 1, text: "caf\u00e9" } }));
    const canonical = lines.map((line) => `${line}\n`).join("");
    const theirs = canonical.replaceAll(", ", ",").replaceAll("\\u00e9", "\u00e9").replaceAll("\n", "\r\n");
    const file = write(`\ufeff${theirs}`);
    const { size, root, otherLayouts } = await imported(file);
    expect({ size, otherLayouts }).to.deep.equal({ size: 6, otherLayouts: { count: 6, firstLine: 1 } });
    expect(readFileSync(target(), "latin1")).to.equal(canonical);
    expect(await readLastSigned(folder())).to.deep.equal({ size: 6, root: toHex(root) });
    expect(readFileSync(file, "utf8")).to.equal(`\ufeff${theirs}`);

    const service = await openTestService(path.dirname(folder()));
    try {
      expect([service.ledger.size, service.ledger.repair]).to.deep.equal([6, undefined]);
      const proposal = {
        header: { task_id: "next", parent_hash: service.ledger.head },
        payload: { data_update: { a: 1 }, confidence_score: 0.9 },
      };
      const { json } = await service.post("/v1/settle", proposal, { authorization: `Bearer ${API_KEY}` });
      expect(json).to.include({ status: "SETTLED", index: 6 });
      expect((await service.get("/v1/ledger/checkpoint")).status).to.equal(200);
    } finally {
      await service.close();
    }
  });

  it("gets no checkpoint key of its own if the settings have one, so that its service starts", async () => {
    const file = write(`${entries(2).join("\n")}\n`);
    const settings = { CHECKPOINT_PRIVATE_KEY: `0x${"44".repeat(32)}` };
    const environment = { LEDGER_DIR: path.dirname(folder()), ANCHOR_PRIVATE_KEY: "", ...settings };
    const { code, err } = await commandHere(["ledger", "import", file], environment);
    expect(code, err).to.equal(0);
    const service = await openTestService(path.dirname(folder()), settings);
    try {
      expect(service.ledger.size).to.equal(2);
    } finally {
      await service.close();
    }
  });

  it("may have any value in the fields of our records, also an object that cannot become text", async () => {
    // `String` throws for such an object, and the index makes texts of a record's fields.
    const objects: PyJson[] = [{ toString: "x", valueOf: 1n }, [], null, 1e308, -5n, 10n ** 40n];
    const payloads = recordTypeNames.flatMap((type) =>
      objects.map((value) => ({
        ...{ type, signer: value, signature: value },
        body: Object.fromEntries(FIELDS.map((field) => [field, value])),
      })),
    );
    payloads.push({ ...payloads[0], type: objects[0] } as never);
    const lines = entries(payloads.length, (n) => ({ payload: payloads[n] as LedgerEntry["payload"] }));
    const { size } = await imported(write(lines.map((line) => `${line}\n`).join("")));
    const service = await openTestService(path.dirname(folder()));
    try {
      expect((await service.get("/health")).json).to.include({ status: "ok", size });
    } finally {
      await service.close();
    }
  });

  it("is refused with the line that does not verify, and nothing is left behind", async () => {
    const lines = entries(5);
    const file = write(lines.with(3, lines[3]!.replace('"n": 3', '"n": 4')).join("\n"));
    expect(await refusal(imported(file))).to.include({ code: "ledger_line", line: 4 });
    expect(existsSync(target())).to.equal(false);
    expect(readdirSync(folder())).to.deep.equal(["ledger.lock"]);
  });

  it("is refused with a line that is impossible in our ledgers", async () => {
    const cases: [string, (n: number) => Partial<LedgerEntry>, RegExp][] = [
      [
        "too long",
        (n) => (n === 2 ? { payload: { n: "x".repeat(66_000) } } : {}),
        /bytes in canonical layout; at most 65535/,
      ],
      [
        "many bytes once they are escaped",
        (n) => (n === 2 ? { payload: { n: "\u00e9".repeat(12_000) } } : {}),
        /at most/,
      ],
      ["before 1970", (n) => (n === 2 ? { timestamp: -1n } : {}), /before 1970/],
      [
        "milliseconds",
        (n) => (n === 2 ? { timestamp: NOW * 1000 } : {}),
        /in the future. Is it in milliseconds/,
      ],
      ["beyond every number", (n) => (n === 2 ? { timestamp: 10n ** 400n } : {}), /in the future/],
      ["five minutes and a bit", (n) => (n === 2 ? { timestamp: NOW + 300.5 } : {}), /in the future/],
    ];
    for (const [name, change, reason] of cases) {
      const error = await refusal(imported(write(`${entries(4, change).join("\n")}\n`)));
      expect(error, name).to.include({ code: "not_importable", line: 3 });
      expect(error.reason, name).to.match(reason);
      expect(existsSync(target()), name).to.equal(false);
    }
  });

  it("may have an entry of exactly 65,535 bytes, and an entry of this moment", async () => {
    const room = 65_535 - entries(1, () => ({ payload: { n: "" } }))[0]!.length;
    const lines = entries(2, (n) =>
      n === 0 ? { payload: { n: "x".repeat(room) } } : { timestamp: NOW + 300 },
    );
    expect(lines[0]!.length).to.equal(65_535);
    expect(await imported(write(lines.join("\n")))).to.include({ size: 2 });
    const longer = entries(1, () => ({ payload: { n: "x".repeat(room + 1) } }));
    const other = importLedger({ file: write(longer[0]!), folder: path.join(temporary.path, "b"), now: NOW });
    expect(await refusal(other)).to.have.property("code", "not_importable");
  });

  it("does not replace another ledger, or a ledger in use", async () => {
    const file = write(`${entries(3).join("\n")}\n`);
    await imported(file);
    const before = readFileSync(target(), "latin1");
    expect(await refusal(imported(file))).to.have.property("code", "ledger_present");
    const ledger = await DiskLedger.open({ folder: folder() });
    expect(await refusal(imported(file))).to.have.property("code", "ledger_locked");
    await ledger.close();
    writeFileSync(target(), "");
    // Its entries are gone, but they were signed.
    expect(await refusal(imported(file))).to.have.property("code", "ledger_present");
    writeFileSync(target(), before);
  });

  it("must begin with the contract's anchored entries, if there are any", async () => {
    const lines = entries(4);
    const file = write(`${lines.join("\n")}\n`);
    const scratch = await importLedger({
      file: write(`${lines.slice(0, 3).join("\n")}\n`),
      folder: path.join(temporary.path, "scratch"),
      now: NOW,
    });
    const onChain = (size: bigint, root: `0x${string}`) => ({
      block: { number: 10n, time: 1n },
      ledger: { writer: WRITER, head: { size, root, time: 1n, seq: 1n }, isEquivocated: false },
      confirmed: undefined,
      expectedWriter: WRITER,
    });
    write(`${lines.join("\n")}\n`);
    const other = `0x${"12".repeat(32)}` as const;
    expect(await refusal(imported(file, { onChain: onChain(3n, other) }))).to.have.property(
      "code",
      "root_contradicts",
    );
    expect(await refusal(imported(file, { onChain: onChain(5n, other) }))).to.have.property(
      "code",
      "chain_ahead",
    );
    expect(await imported(file, { onChain: onChain(3n, toHex(scratch.root)) })).to.include({ size: 4 });
  });
});
