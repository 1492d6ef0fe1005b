import { chownSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { isNoteSignedBy, parseSignedNote } from "tallystick-protocol/note/signedNote";
import { type DatedVerifierKey, parseVerifierKeys } from "tallystick-protocol/note/verifierKeys";
import { type ProofBundle, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import {
  CHECKPOINT_KEY_FILE,
  NEXT_KEY_FILE,
  ROTATION_SECONDS,
} from "../../services/settlement/proofs/checkpointKey.ts";
import { commandHere } from "../support/commandHere.ts";
import { KEY, proposal } from "./support/proposals.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService, type TestService } from "./support/testService.ts";

describe("another key for the checkpoints", () => {
  const folder = temporaryFolder();
  let service: TestService | undefined;
  const start = async (settings: { [name: string]: string } = {}): Promise<TestService> => {
    service = await openTestService(folder.path, settings);
    return service;
  };
  const stop = async (): Promise<void> => {
    await service?.close();
    service = undefined;
  };
  afterEach(stop);
  const file = (name: string) => path.join(folder.path, "local", name);

  async function rotate(options: string[] = [], settings: { [name: string]: string } = {}): Promise<number> {
    const environment = { LEDGER_DIR: folder.path, ANCHOR_PRIVATE_KEY: "", ...settings };
    return (await commandHere(["ledger", "rotate-key", ...options], environment)).code;
  }
  const settle = async (to: TestService): Promise<void> => {
    expect((await to.post("/v1/settle", proposal(to.ledger.head), KEY)).json.status).to.equal("SETTLED");
  };
  const keysOf = async (of: TestService) => parseVerifierKeys((await of.get("/v1/ledger/key")).text);
  /** The proof of an entry. On a slow machine the service may stop waiting for its checkpoint, so this asks again. */
  const bundleOf = async (of: TestService, index: number): Promise<ProofBundle> => {
    for (;;) {
      const { status, json } = await of.get(`/v1/ledger/bundle?index=${index}`);
      if (status !== 503) return json;
    }
  };
  const isGoodBy = (bundle: ProofBundle, ...keys: DatedVerifierKey[]): boolean => {
    try {
      return verifyProofBundle(bundle, { keys }).index >= 0;
    } catch {
      return false;
    }
  };
  /** Changes the file of the next key as if the key had been made this many seconds earlier. */
  const age = (seconds: number): void => {
    const [seed, from] = readFileSync(file(NEXT_KEY_FILE), "utf8").trim().split(" ");
    writeFileSync(file(NEXT_KEY_FILE), `${seed} ${Number(from) - seconds}\n`);
  };

  it("signs together with the present key for 30 days, and then alone", async () => {
    const first = await start();
    await settle(first);
    const [old] = await keysOf(first);
    const before = await bundleOf(first, 0);
    expect(await rotate()).to.equal(1); // The service runs.
    await stop();
    expect(await rotate()).to.equal(0);
    expect(await rotate()).to.equal(1);

    const both = await start();
    await settle(both);
    const [present, next] = (await keysOf(both)) as [DatedVerifierKey, DatedVerifierKey];
    expect({ ...present, until: undefined }).to.deep.equal({ ...old, until: undefined });
    expect((present.until as number) - (next.from as number)).to.equal(ROTATION_SECONDS);
    const during = await bundleOf(both, 1);
    const note = parseSignedNote(during.checkpoint);
    expect([present, next].map((key) => isNoteSignedBy(note, key))).to.deep.equal([true, true]);
    for (const keys of [[present], [next], [present, next]]) expect(isGoodBy(during, ...keys)).to.equal(true);
    expect([isGoodBy(before, present), isGoodBy(before, next)]).to.deep.equal([true, false]);
    await stop();
    expect(await rotate(["--finish"])).to.equal(1);
    age(ROTATION_SECONDS);
    expect(await rotate(["--finish"])).to.equal(0);
    expect(await rotate(["--finish"])).to.equal(1);

    const last = await start();
    await settle(last);
    const keys = await keysOf(last);
    expect(keys.map(({ publicKey }) => publicKey)).to.deep.equal([next.publicKey]);
    const after = await bundleOf(last, 2);
    expect([isGoodBy(after, present), isGoodBy(after, next)]).to.deep.equal([false, true]);
  });

  it("takes effect at once if the present key is compromised", async () => {
    const first = await start();
    await settle(first);
    await stop();
    await rotate();
    expect(await rotate(["--now"])).to.equal(1);
    expect(await rotate(["--finish", "--now"])).to.equal(0);
    expect(await keysOf(await start())).to.have.length(1);
  });

  it("belongs to the user of the service, also if root makes it", async () => {
    await start();
    await stop();
    const service = process.getuid?.() === 0 ? 54_321 : (process.getuid?.() ?? 0);
    chownSync(path.dirname(file(NEXT_KEY_FILE)), service, statSync(folder.path).gid);
    expect(await rotate()).to.equal(0);
    expect(statSync(file(NEXT_KEY_FILE)).uid).to.equal(service);
  });

  it("may be interrupted at any point, and is never half done", async () => {
    const first = await start();
    await settle(first);
    const [old] = await keysOf(first);
    await stop();
    // The write ended before the file of the next key had its name.
    writeFileSync(file(`${NEXT_KEY_FILE}.unfinished`), "12ab");
    expect(await keysOf(await start())).to.deep.equal([old]);
    await stop();
    expect(await rotate()).to.equal(0);
    const keys = await keysOf(await start());
    for (let restart = 0; restart < 2; restart++) {
      await stop();
      expect(await keysOf(await start())).to.deep.equal(keys);
    }
    await stop();
    // A damaged file stops the start, and the error names the file.
    writeFileSync(file(NEXT_KEY_FILE), "12ab");
    const error = await start().catch((thrown) => thrown);
    expect([error.code, error.message.includes(NEXT_KEY_FILE)]).to.deep.equal(["bad_checkpoint_key", true]);
  });

  it("can replace a key in the settings only after the key was removed there", async () => {
    const first = await start();
    await settle(first);
    await stop();
    const seed = readFileSync(file(CHECKPOINT_KEY_FILE), "utf8").trim();
    const settings = { CHECKPOINT_PRIVATE_KEY: `0x${seed}` };
    expect(await rotate([], settings)).to.equal(0);
    age(ROTATION_SECONDS);
    expect(await rotate(["--finish"], settings)).to.equal(1);
    expect(await rotate(["--finish"])).to.equal(0);
  });

  it("is not taken from the settings while the folder has another one", async () => {
    const first = await start();
    const keys = await keysOf(first);
    await settle(first);
    await stop();
    const seed = readFileSync(file(CHECKPOINT_KEY_FILE), "utf8").trim();
    const other = { CHECKPOINT_PRIVATE_KEY: `0x${"44".repeat(32)}` };
    const error = await start(other).catch((thrown) => thrown);
    expect([error.code, error.message.includes(file(CHECKPOINT_KEY_FILE))]).to.deep.equal([
      "checkpoint_key_differs",
      true,
    ]);
    // The same key may be in both places. A lost key, or one that the disk damaged, can be replaced by the settings.
    expect(await keysOf(await start({ CHECKPOINT_PRIVATE_KEY: `0x${seed}` }))).to.deep.equal(keys);
    await stop();
    for (const isLost of [false, true]) {
      if (isLost) rmSync(file(CHECKPOINT_KEY_FILE));
      else writeFileSync(file(CHECKPOINT_KEY_FILE), "12ab");
      const [key] = await keysOf(await start(other));
      expect(key?.publicKey).not.to.deep.equal(keys[0]?.publicKey);
      await stop();
    }
  });
});
