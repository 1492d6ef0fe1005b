import path from "node:path";
import { expect } from "chai";
import type { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { openBucket } from "../../../services/settlement/objectStore/bucket.ts";
import { BucketCopy } from "../../../services/settlement/objectStore/bucketCopy.ts";
import { folderSource } from "../../../services/settlement/staticLog/logSource.ts";
import { StaticLog } from "../../../services/settlement/staticLog/staticLog.ts";
import { verifyStaticLog } from "../../../services/settlement/staticLog/verifyStaticLog.ts";
import { CREDENTIALS, type Fault, type ObjectStore, startObjectStore } from "../../support/objectStore.ts";
import { grow, key, noteOf, ORIGIN, openLedger, serveAs } from "../mirror/support.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("a copy of a log in an object store", () => {
  const temporary = temporaryFolder();
  const ledgers: DiskLedger[] = [];
  let store: ObjectStore;
  let said: string[];

  beforeEach(async () => {
    store = await startObjectStore();
    said = [];
  });
  afterEach(async () => {
    await store.close();
    for (const ledger of ledgers.splice(0)) await ledger.close();
  });

  const config = (prefix = "log") => ({ ...CREDENTIALS, url: `${store.url}/bucket/${prefix}` });
  const open = (prefix?: string, more = {}) => openBucket({ config: config(prefix), pauseMs: 1, ...more });

  async function ledgerOf(size: number, text = ""): Promise<DiskLedger> {
    const ledger = await openLedger(temporary.path, size, text);
    ledgers.push(ledger);
    return ledger;
  }

  /** A folder with the log of a ledger. */
  async function publish(
    ledger: DiskLedger,
    name = "log",
    { origin = ORIGIN, witnesses = [] as string[] } = {},
  ): Promise<string> {
    const folder = path.join(temporary.path, name);
    await new StaticLog({ folder, origin, ledger }).write({
      size: ledger.size,
      note: noteOf(ledger, ledger.size, { origin, witnesses }),
    });
    return folder;
  }

  async function copyOf(folder: string, prefix?: string): Promise<BucketCopy> {
    const bucket = await open(prefix);
    return new BucketCopy({
      from: folderSource(folder),
      bucket,
      log: (_, fields) => said.push(String(fields?.code)),
    });
  }

  /** The log in the store, as anybody reads it from a public bucket. */
  async function verified(prefix = "log"): Promise<number> {
    const { url, server } = await serveAs({
      now: (_request, response, name) => {
        const bytes = store.objects.get(`bucket/${prefix}/${name}`);
        return bytes ? response.end(bytes) : response.writeHead(403).end();
      },
    });
    try {
      return (await verifyStaticLog({ source: url, keys: [key], pauseMs: 1 })).size;
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  const codeOf = (action: Promise<unknown>): Promise<string> =>
    action.then(
      () => "fine",
      (error) => error.code,
    );

  it("has every file of the log, grows with the log, and writes nothing twice", async () => {
    const ledger = await ledgerOf(0);
    let copy = await copyOf(await publish(ledger));
    for (const size of [0, 3, 300, 700, 701]) {
      await grow(ledger, size);
      await publish(ledger);
      expect(await copy.round(), said.join()).to.equal(true);
      expect(copy.state.size).to.equal(size);
      expect(await verified()).to.equal(size);
      const count = store.asked.length;
      expect(await copy.round()).to.equal(true);
      expect(store.asked.slice(count).filter((line) => line.startsWith("PUT"))).to.deep.equal([]);
      // Another process continues the copy.
      copy = await copyOf(path.join(temporary.path, "log"));
    }
  });

  for (const fault of [
    "overwrites",
    "lies",
    "knows no If-Match",
    "no ETag",
    "changes its ETags",
  ] as Fault[]) {
    it(`is not started in a store that ${fault === "no ETag" ? "sends no ETag" : fault}`, async () => {
      store.fault = fault;
      expect(await codeOf(open())).to.equal("bucket_unsafe");
      // An earlier attempt may have left an object there.
      expect(await codeOf(open())).to.equal("bucket_unsafe");
    });
  }

  it("is not started with another key, or where nothing answers", async () => {
    const wrong = { config: { ...config(), secretAccessKey: "another" } };
    const error = await open("log", wrong).catch((thrown) => thrown);
    expect(error.code).to.equal("bucket_unavailable");
    expect(JSON.stringify([error.message, error.hint, error.details])).to.not.contain("another");
    store.fault = "stalls";
    expect(await codeOf(open("log", { timeoutMs: 20 }))).to.equal("bucket_unavailable");
    await store.close();
    expect(await codeOf(open())).to.equal("bucket_unavailable");
  });

  it("is completed through slow-downs and lost answers", async () => {
    const ledger = await ledgerOf(700);
    const copy = await copyOf(await publish(ledger));
    store.fault = "tired";
    for (let round = 0; round < 5 && copy.state.size !== 700; round++) await copy.round();
    store.fault = undefined;
    expect(await copy.round()).to.equal(true);
    expect(await verified()).to.equal(700);
    expect(store.asked.some((line) => line.endsWith(" 503"))).to.equal(true);
  });

  it("is complete for its checkpoint after an interruption at any write", async () => {
    const ledger = await ledgerOf(300);
    const folder = await publish(ledger);
    await (await copyOf(folder)).round();
    await grow(ledger, 900);
    await publish(ledger);
    for (let most = 0; ; most++) {
      const bucket = await open();
      let puts = 0;
      const dying = {
        ...bucket,
        put: (...args: Parameters<typeof bucket.put>) => {
          if (puts++ >= most) throw Object.assign(new Error("killed"), { code: "killed" });
          return bucket.put(...args);
        },
      };
      const copy = new BucketCopy({ from: folderSource(folder), bucket: dying, log: () => {} });
      const ended = await codeOf(copy.round());
      if (ended === "fine") break;
      expect(await verified()).to.equal(300);
    }
    expect(await verified()).to.equal(900);
  });

  it("says of an object that it cannot read that it cannot be read, and not that it is another one", async () => {
    const ledger = await ledgerOf(300);
    const folder = await publish(ledger);
    await (await copyOf(folder)).round();
    const tile = [...store.objects.keys()].find((name) => name.includes("/tile/")) as string;
    // A key without the right to read gets 403.
    let hidden = "";
    store.interfere = (method, key) => (method === "GET" && key === hidden ? { status: 403 } : undefined);
    for (const [name, deleted] of [
      [tile, "bucket/log/checkpoint"],
      ["bucket/log/checkpoint", ""],
    ] as const) {
      hidden = name;
      store.objects.delete(deleted);
      const copy = await copyOf(folder);
      expect(await copy.round(), name).to.equal(false);
      expect(copy.state.code, copy.state.reason).to.equal("bucket_unavailable");
      expect(copy.state.reason).to.contain(name.slice("bucket/log/".length));
      hidden = "";
      expect(await copy.round(), name).to.equal(true);
    }
  });

  it("says of a longer object that it is another one, after one look", async () => {
    const ledger = await ledgerOf(300);
    const folder = await publish(ledger);
    await (await copyOf(folder)).round();
    const tile = [...store.objects.keys()].find((name) => name.includes("/tile/")) as string;
    store.objects.delete("bucket/log/checkpoint");
    store.objects.set(tile, Buffer.concat([store.objects.get(tile) as Buffer, Buffer.from("more")]));
    const copy = await copyOf(folder);
    const count = store.asked.length;
    expect(await copy.round()).to.equal(false);
    expect(copy.state).to.include({ code: "bucket_contradicts" });
    expect(store.asked.slice(count).filter((line) => line === `GET ${tile} 200`)).to.have.length(1);
    store.objects.set("bucket/log/checkpoint", Buffer.alloc(1_000_001, "x"));
    expect(await copy.round()).to.equal(false);
    expect(copy.state.reason).to.contain("too long for a checkpoint");
  });

  it("never touches the objects of another log, or of another history of this log", async () => {
    const ledger = await ledgerOf(300);
    await (await copyOf(await publish(ledger))).round();
    const before = new Map(store.objects);
    const unchanged = () => {
      for (const [name, bytes] of before) expect(store.objects.get(name)?.equals(bytes), name).to.equal(true);
    };
    const other = await ledgerOf(400);
    const foreign = await copyOf(await publish(other, "foreign", { origin: "other.test/log" }));
    expect(await foreign.round()).to.equal(false);
    const forged = await ledgerOf(200);
    await grow(forged, 600, "forged");
    const fork = await copyOf(await publish(forged, "forged"));
    expect(await fork.round()).to.equal(false);
    const short = await ledgerOf(100);
    await grow(short, 200, "forged");
    expect(await (await copyOf(await publish(short, "short"))).round()).to.equal(false);
    // Tiles of another history without a checkpoint, as an interrupted copy leaves them.
    store.objects.delete("bucket/log/checkpoint");
    before.delete("bucket/log/checkpoint");
    expect(await (await copyOf(path.join(temporary.path, "forged"))).round()).to.equal(false);
    expect(said).to.deep.equal(Array.from({ length: 4 }, () => "bucket_contradicts"));
    unchanged();
    expect(store.objects.has("bucket/log/checkpoint")).to.equal(false);
    // An object with the name `checkpoint` that is not a checkpoint is not overwritten.
    store.objects.set("bucket/notes/checkpoint", Buffer.from("remember the milk"));
    expect(await (await copyOf(path.join(temporary.path, "log"), "notes")).round()).to.equal(false);
    expect(store.objects.get("bucket/notes/checkpoint")?.toString()).to.equal("remember the milk");
  });

  it("is not changed by a copy that is behind, and is continued by one that is ahead", async () => {
    const ledger = await ledgerOf(300);
    const behind = await publish(ledger, "behind");
    await grow(ledger, 500);
    const ahead = await publish(ledger, "ahead");
    const [slow, fast] = [await copyOf(behind), await copyOf(ahead)];
    expect(await Promise.all([slow.round(), fast.round()])).to.deep.equal([true, true]);
    await fast.round();
    const count = store.asked.length;
    await slow.round();
    expect(await verified()).to.equal(500);
    expect(store.asked.slice(count).filter((line) => line.startsWith("PUT"))).to.deep.equal([]);
    expect(said).to.deep.equal([]);
  });

  it("asks again after 409, 429 and 503, and treats 403 as a missing object", async () => {
    const busy = [409, 429, 503, 500];
    const copy = await copyOf(await publish(await ledgerOf(300)));
    store.interfere = (method, key) => {
      const status = method === "PUT" ? busy.shift() : store.objects.has(key) ? undefined : 403;
      return status === undefined ? undefined : { status };
    };
    expect(await copy.round(), said.join()).to.equal(true);
    expect([await verified(), busy]).to.deep.equal([300, []]);
  });

  it("follows no redirect with its signature or its content", async () => {
    const elsewhere = await startObjectStore();
    const copy = await copyOf(await publish(await ledgerOf(3)));
    store.interfere = (_, key) => ({ status: 307, headers: { location: `${elsewhere.url}/${key}` } });
    expect([await copy.round(), copy.state.code]).to.deep.equal([false, "bucket_unavailable"]);
    expect(elsewhere.asked).to.deep.equal([]);
    await elsewhere.close();
  });

  it("recognises a checkpoint that it wrote if the answer was lost", async () => {
    const copy = await copyOf(await publish(await ledgerOf(300)));
    let lost = 0;
    store.interfere = (method, key) =>
      method === "PUT" && key.endsWith("/checkpoint") && lost++ === 0 ? "lost" : undefined;
    expect(await copy.round()).to.equal(true);
    expect([copy.state.size, lost]).to.deep.equal([300, 2]);
  });

  it("continues after the checkpoint that it wants to replace was removed", async () => {
    const ledger = await ledgerOf(3);
    const copy = await copyOf(await publish(ledger));
    await copy.round();
    await grow(ledger, 5);
    await publish(ledger);
    let removed = false;
    store.interfere = (method, key) => {
      if (method === "PUT" && key.endsWith("/checkpoint") && !removed) removed = store.objects.delete(key);
      return undefined;
    };
    expect(await copy.round(), said.join()).to.equal(true);
    expect(copy.state.size, "not written yet").to.equal(3);
    expect(await copy.round()).to.equal(true);
    expect([copy.state.size, await verified()]).to.deep.equal([5, 5]);
  });

  it("keeps the witnesses' signatures in the store when another copy has more signatures, but by others", async () => {
    const ledger = await ledgerOf(3);
    const shown = () => store.objects.get("bucket/log/checkpoint")?.toString() ?? "";
    await (await copyOf(await publish(ledger, "witnessed", { witnesses: ["one.test"] }))).round();
    const worthless = Array.from({ length: 9 }, (_, n) => `nobody-${n}.test`);
    await (await copyOf(await publish(ledger, "padded", { witnesses: worthless }))).round();
    expect(shown()).to.contain("— one.test ").and.not.to.contain("nobody");
    await (await copyOf(await publish(ledger, "both", { witnesses: ["one.test", "two.test"] }))).round();
    expect(shown()).to.contain("— one.test ").and.to.contain("— two.test ");
  });

  it("keeps the checkpoint with more signatures, and the existing one if both have as many", async () => {
    const ledger = await ledgerOf(3);
    const notes: string[] = [];
    for (const [name, ...witnesses] of [["none"], ["a", "one.test"], ["b", "two.test"], ["none"]]) {
      await (await copyOf(await publish(ledger, name, { witnesses }))).round();
      notes.push(store.objects.get("bucket/log/checkpoint")?.toString() ?? "");
    }
    const [none, a, b, last] = notes;
    expect(none).to.not.contain("one.test");
    expect(a).to.contain("one.test");
    expect([b, last]).to.deep.equal([a, a]);
  });
});
