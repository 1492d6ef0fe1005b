import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import {
  CHECKPOINT_KEY_FILE,
  checkpointKeys,
  finishKeyRotation,
  makeCheckpointKey,
  NEXT_KEY_FILE,
  ROTATION_SECONDS,
  readCheckpointKey,
  startKeyRotation,
} from "../../../services/settlement/proofs/checkpointKey.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const SEED = "0123456789abcdef".repeat(4);
const seed = Uint8Array.from(Buffer.from(SEED, "hex"));

describe("the key of a ledger's checkpoints", () => {
  const folder = temporaryFolder();
  const at = (name: string) => path.join(folder.path, name);
  const write = (text: string, name = CHECKPOINT_KEY_FILE) => writeFileSync(at(name), text);
  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail("it succeeded"),
      (error) => error,
    );

  it("is read with the time from which it is used, if the file has one", async () => {
    expect(await readCheckpointKey(folder.path)).to.equal(undefined);
    for (const [text, from] of [
      [SEED, undefined],
      [`${SEED}\n`, undefined],
      [`${SEED} 7\n`, 7],
      [`${SEED} 12345678901`, 12_345_678_901],
    ] as const) {
      write(text);
      expect(await readCheckpointKey(folder.path)).to.deep.equal({
        seed,
        ...(from !== undefined && { from }),
      });
    }
    expect(await readCheckpointKey(folder.path, NEXT_KEY_FILE)).to.equal(undefined);
    write(SEED, NEXT_KEY_FILE);
    expect(await readCheckpointKey(folder.path, NEXT_KEY_FILE)).to.deep.equal({ seed });
    expect((await errorOf(readCheckpointKey(at(NEXT_KEY_FILE)))).code).to.equal("ENOTDIR");
  });

  it("is refused in any other form, with what to do", async () => {
    for (const text of [
      "",
      SEED.slice(1),
      `${SEED}0`,
      ` ${SEED}`,
      SEED.toUpperCase(),
      `${SEED}\n\n`,
      `${SEED} \n`,
      `${SEED} 123456789012`,
      `${SEED} -1`,
      `${SEED} 1 2`,
      `${SEED}\n${SEED}`,
    ]) {
      write(text);
      expect(await errorOf(readCheckpointKey(folder.path)), text).to.include({
        ...{
          code: "bad_checkpoint_key",
          message: `${at(CHECKPOINT_KEY_FILE)} does not have a key of 64 hex digits.`,
        },
        hint: "Restore it from a copy. Followers of this ledger know it by this key.",
      });
    }
  });

  it("is made once for an empty ledger, in a file that only its owner reads", async () => {
    const [made, ...others] = await checkpointKeys(folder.path, { size: 0 });
    expect(others).to.deep.equal([]);
    expect(made).to.have.all.keys("seed");
    expect(made?.seed).to.have.length(32);
    expect(readFileSync(at(CHECKPOINT_KEY_FILE), "utf8")).to.match(/^[0-9a-f]{64}\n$/);
    expect(statSync(at(CHECKPOINT_KEY_FILE)).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder.path)).to.deep.equal([CHECKPOINT_KEY_FILE]);
    expect(await checkpointKeys(folder.path, { size: 0 })).to.deep.equal([made]);
    expect(await checkpointKeys(folder.path, { size: 9 })).to.deep.equal([made]);
    expect((await makeCheckpointKey(folder.path)).seed).not.to.deep.equal(made?.seed);
  });

  it("is not made again for a ledger with entries", async () => {
    expect(await errorOf(checkpointKeys(folder.path, { size: 1 }))).to.include({
      code: "checkpoint_key_missing",
      message: `${at(CHECKPOINT_KEY_FILE)} is missing, and the ledger has 1 entries.`,
      hint:
        "Restore it from a copy: followers know the ledger by it. If it is lost, set CHECKPOINT_PRIVATE_KEY to a new key" +
        " (0x and 64 random hex digits) and tell them its verifier key (GET /v1/ledger/key).",
    });
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  it("may be kept elsewhere, if the folder has no other one", async () => {
    expect(await checkpointKeys(folder.path, { size: 5 }, seed)).to.deep.equal([{ seed }]);
    expect(existsSync(at(CHECKPOINT_KEY_FILE))).to.equal(false);
    write(SEED);
    expect(await checkpointKeys(folder.path, { size: 5 }, seed)).to.deep.equal([{ seed }]);
    write("damaged");
    expect(await checkpointKeys(folder.path, { size: 5 }, seed)).to.deep.equal([{ seed }]);
    write(SEED.replace("0", "f"));
    expect(await errorOf(checkpointKeys(folder.path, { size: 0 }, seed))).to.include({
      code: "checkpoint_key_differs",
      message: `CHECKPOINT_PRIVATE_KEY is another key than that in ${at(CHECKPOINT_KEY_FILE)}.`,
      hint:
        "Followers know the ledger by one of the two, and stop at the other one. If it is the key in the file, remove the" +
        " setting. If it is the key of the setting, move the file to another folder.",
    });
  });

  it("signs with the next key for thirty days, and is then replaced by it", async () => {
    expect(ROTATION_SECONDS).to.equal(2_592_000);
    write(SEED);
    const next = await startKeyRotation(folder.path, 1_000.9);
    expect(next).to.have.property("from", 1_000);
    expect(readFileSync(at(NEXT_KEY_FILE), "utf8")).to.equal(
      `${Buffer.from(next.seed).toString("hex")} 1000\n`,
    );
    expect(statSync(at(NEXT_KEY_FILE)).mode & 0o777).to.equal(0o600);
    const both = [{ seed, until: 1_000 + ROTATION_SECONDS }, next];
    expect(await checkpointKeys(folder.path, { size: 3 })).to.deep.equal(both);
    expect(await checkpointKeys(folder.path, { size: 3 }, seed)).to.deep.equal(both);
    const before = readFileSync(at(NEXT_KEY_FILE), "utf8");
    expect(await errorOf(startKeyRotation(folder.path, 2_000))).to.include({
      ...{
        code: "rotation_under_way",
        message: `${at(NEXT_KEY_FILE)} exists: the next key was already made.`,
      },
      hint: "From 1970-01-31T00:16:40Z on, tallystick ledger rotate-key --finish replaces the present key.",
    });
    const end = 1_000 + ROTATION_SECONDS;
    expect(await errorOf(finishKeyRotation(folder.path, end - 0.1))).to.include({
      code: "rotation_too_early",
      message: "Both keys sign until 1970-01-31T00:16:40Z: until then followers learn the next key.",
      hint: "If somebody else has the present key, add --now, and tell the followers.",
    });
    expect(readFileSync(at(NEXT_KEY_FILE), "utf8")).to.equal(before);
    expect(await finishKeyRotation(folder.path, end)).to.deep.equal(next);
    expect(readdirSync(folder.path)).to.deep.equal([CHECKPOINT_KEY_FILE]);
    expect(await checkpointKeys(folder.path, { size: 3 })).to.deep.equal([next]);
  });

  it("is replaced at once if it was stolen, and never without a next key", async () => {
    write(SEED);
    expect(await errorOf(finishKeyRotation(folder.path, 9e9, true))).to.include({
      ...{ code: "no_rotation", message: `There is no ${at(NEXT_KEY_FILE)}.` },
      hint: "Begin with tallystick ledger rotate-key, without --finish.",
    });
    const next = await startKeyRotation(folder.path, 1_000);
    expect(await finishKeyRotation(folder.path, 1_001, true)).to.deep.equal(next);
    expect(await readCheckpointKey(folder.path)).to.deep.equal(next);
    // A next key without a time counts as made in 1970.
    write(SEED, NEXT_KEY_FILE);
    expect(await checkpointKeys(folder.path, { size: 1 })).to.deep.equal([
      { ...next, until: ROTATION_SECONDS },
      { seed },
    ]);
  });
});
