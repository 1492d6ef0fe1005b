import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { tryLock } from "fs-native-extensions";
import { ApiKeys } from "../../../services/settlement/keys/apiKeys.ts";
import { addKey, hashKey, readKeyFile, revokeKey } from "../../../services/settlement/keys/keyFile.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const AGENT = `0x${"a1".repeat(20)}` as const;

describe("the file of API keys", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, "deep", "keys.json");
  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail("it succeeded"),
      (error) => error,
    );

  it("has the hash, name, times and agent of each key, in the order in which they were made", async () => {
    expect(await readKeyFile(file())).to.deep.equal([]);
    const ada = await addKey(file(), "Ada", 1_000.9, AGENT);
    const bob = await addKey(file(), "Bob", 1_001);
    expect(ada.stored).to.deep.equal({
      ...{ id: ada.stored.id, name: "Ada", sha256: hashKey(ada.key), created_at: 1_000 },
      ...{ revoked_at: null, agent: AGENT },
    });
    expect(bob.stored).not.to.have.property("agent");
    expect(await readKeyFile(file())).to.deep.equal([ada.stored, bob.stored]);
    expect([ada.key, bob.stored.id]).to.satisfy(([key, id]: string[]) => {
      return /^tsk_.{32}$/.test(key as string) && (id as string).length === 8;
    });
    expect(hashKey("abc")).to.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const text = readFileSync(file(), "utf8");
    expect(text).to.match(/^\{\n {2}"version": 1,\n/);
    expect(text.endsWith("\n")).to.equal(true);
    expect(existsSync(`${file()}.next`)).to.equal(false);
  });

  it("can be read only by its owner, and so can its lock, also if a broader file was there", async () => {
    mkdirSync(path.dirname(file()));
    for (const name of [file(), `${file()}.next`])
      writeFileSync(name, '{"version":1,"keys":[]}', { mode: 0o666 });
    await addKey(file(), "Ada", 1);
    for (const name of [file(), `${file()}.lock`]) expect(statSync(name).mode & 0o777, name).to.equal(0o600);
  });

  it("keeps the time of the first revocation", async () => {
    const { stored } = await addKey(file(), "Ada", 1);
    expect(await revokeKey(file(), stored.id, 2.9)).to.deep.equal({ ...stored, revoked_at: 2 });
    expect(await revokeKey(file(), stored.id, 9)).to.deep.equal({ ...stored, revoked_at: 2 });
  });

  it("says that there is no such key, and stays as it was", async () => {
    await addKey(file(), "Ada", 1);
    const before = readFileSync(file(), "utf8");
    expect(await errorOf(revokeKey(file(), "NOBODY", 2))).to.include({
      ...{ code: "unknown_key", message: `There is no key NOBODY in ${file()}.` },
      hint: "tallystick keys list shows their ids.",
    });
    expect(readFileSync(file(), "utf8")).to.equal(before);
  });

  it("is refused with other content, with what to do", async () => {
    await addKey(file(), "Ada", 1, AGENT);
    const good = readFileSync(file(), "utf8");
    for (const [from, to] of [
      ['"version": 1', '"version": 2'],
      ['"revoked_at": null', '"revoked_at": "never"'],
      ['"revoked_at": null', '"revoked_at": null, "more": 1'],
      ['"sha256": "', '"sha256": "a'],
      ['"sha256": "', '"sha256": "x'],
      ['"created_at": 1', '"created_at": 1.5'],
      [`"${AGENT}"`, '"0x12"'],
      ["{", ""],
    ] as const) {
      writeFileSync(file(), good.replace(from, to));
      const error = await errorOf(readKeyFile(file()));
      expect(error, to).to.include({
        ...{ code: "keys_unreadable", message: `${file()} is not a file of API keys.` },
        hint: "Restore it from a copy, or remove it and make new keys with tallystick keys add.",
      });
      expect(error.cause).to.be.instanceOf(Error);
    }
    const unread = await errorOf(readKeyFile(folder.path));
    expect(unread).to.include({
      ...{ code: "keys_unreadable", hint: "The user that runs settlement must own it." },
      message: `${folder.path} cannot be read: EISDIR: illegal operation on a directory, read`,
    });
  });

  it("is not changed while another process changes it", async () => {
    await addKey(file(), "Ada", 1);
    const lock = await open(`${file()}.lock`, "a");
    expect(tryLock(lock.fd)).to.equal(true);
    const { performance } = globalThis;
    const { now } = performance;
    let calls = 0;
    // Each look at the clock takes almost half of the time that a change may wait. The real time must not come on top.
    performance.now = () => 4_900 * calls++;
    try {
      expect(await errorOf(addKey(file(), "Bob", 2))).to.include({
        ...{ code: "keys_busy", message: `Another process is changing ${file()}.` },
        hint: "Nothing was changed. Try again when the other process has ended.",
      });
      expect(calls).to.equal(4);
    } finally {
      performance.now = now;
      await lock.close();
    }
    expect(await readKeyFile(file())).to.have.length(1);
    await addKey(file(), "Bob", 2);
    expect(await readKeyFile(file())).to.have.length(2);
  });
});

describe("the keys that may settle", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, "keys.json");
  const { now } = performance;
  let time: number;
  beforeEach(() => {
    time = 50_000;
    performance.now = () => time;
  });
  afterEach(() => {
    performance.now = now;
  });

  it("are those of the configuration and of the file, each with its agent", async () => {
    performance.now = now;
    const { key, stored } = await addKey(file(), "Ada", 1, AGENT);
    const keys = new ApiKeys({ keys: ["one", "two"], file: file() });
    expect(await keys.find(key)).to.deep.equal({ id: stored.id, agent: AGENT });
    expect(await keys.find("one")).to.deep.equal({ id: "config-0" });
    expect(await keys.find("two")).to.deep.equal({ id: "config-1" });
    expect(await keys.find("three")).to.equal(undefined);
    expect(await keys.isEmpty()).to.equal(false);
    const fixed = new ApiKeys({ keys: ["one"] });
    expect([await fixed.isEmpty(), await fixed.find(key)]).to.deep.equal([false, undefined]);
    expect(await new ApiKeys({ keys: [] }).isEmpty()).to.equal(true);
    await revokeKey(file(), stored.id, 2);
    expect(await new ApiKeys({ keys: [], file: file() }).isEmpty()).to.equal(true);
  });

  it("are read again after a second, if the file's time, size or identity changed", async () => {
    const stored = (name: string) => ({
      ...{ id: name, name, sha256: hashKey(name), created_at: 1, revoked_at: null },
    });
    const write = (name: string, at: number, more = "") => {
      writeFileSync(file(), JSON.stringify({ version: 1, keys: [stored(name)] }) + more);
      utimesSync(file(), at, at);
    };
    write("a", 1_000);
    const keys = new ApiKeys({ keys: [], file: file() });
    const known = async () => {
      const found: string[] = [];
      for (const name of ["a", "b", "c", "d"]) if (await keys.find(name)) found.push(name);
      return found.join();
    };
    expect(await known()).to.equal("a");
    write("b", 1_001);
    time += 999;
    expect(await known()).to.equal("a");
    time += 1;
    expect(await known()).to.equal("b");
    // This change cannot be seen.
    write("c", 1_001);
    time += 1_000;
    expect(await known()).to.equal("b");
    write("c", 1_001, " ");
    time += 1_000;
    expect(await known()).to.equal("c");
    time += 1_000;
    expect(await known()).to.equal("c");
  });

  it("are read once for callers that come at the same time, and again after an error", async () => {
    mkdirSync(file());
    const keys = new ApiKeys({ keys: [], file: file() });
    const found = await Promise.allSettled([keys.find("a"), keys.find("b")]);
    expect(found.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect(found.map((one) => (one as PromiseRejectedResult).reason)[0]).to.equal(
      (found[1] as PromiseRejectedResult).reason,
    );
    expect(await keys.find("a").catch(({ code }) => code)).to.equal("keys_unreadable");
  });
});
