import { appendFileSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { KEY, proposal } from "./support/proposals.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService } from "./support/testService.ts";

/** The files of a folder that this process has open, if the operating system shows them. */
function openIn(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd")
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        // The handle that listed the others is already closed.
        return "";
      }
    })
    .filter((file) => file.startsWith(folder));
}

describe("a start that fails", () => {
  const folder = temporaryFolder();
  const fileOf = (name: string) => path.join(folder.path, "local", name);

  beforeEach(async () => {
    const service = await openTestService(folder.path);
    const answer = await service.post("/v1/settle", proposal(GENESIS_HASH), KEY);
    expect(answer.json.status).to.equal("SETTLED");
    if (process.platform === "linux") expect(openIn(folder.path)).not.to.deep.equal([]);
    await service.close();
  });

  /** Damages a file, sees the start fail, repairs the file, and sees the next start succeed. */
  async function expectClosed(name: string, damage: (file: string) => void, code: string): Promise<void> {
    const before = readFileSync(fileOf(name));
    damage(fileOf(name));
    const error = await openTestService(folder.path).catch((reason) => reason);
    expect(error).to.have.property("code", code);
    expect(openIn(folder.path)).to.deep.equal([]);
    rmSync(fileOf(name), { recursive: true });
    writeFileSync(fileOf(name), before);
    // The lock is free again: this would be refused otherwise.
    const service = await openTestService(folder.path);
    expect(service.ledger.size).to.equal(1);
    await service.close();
  }

  it("because of a changed ledger leaves nothing open, and unlocks the folder", () =>
    expectClosed(
      "ledger.jsonl",
      (file) =>
        writeFileSync(
          file,
          readFileSync(file, "latin1").replace(/"confidence_score": [0-9.]+/, '"confidence_score": 0.1'),
        ),
      "ledger_line",
    ));

  it("because of a changed held proposal leaves nothing open, and unlocks the folder", () =>
    expectClosed("held.jsonl", (file) => appendFileSync(file, "{}\n"), "held_corrupt"));

  it("because of a malformed checkpoint key leaves nothing open, and unlocks the folder", () =>
    expectClosed("checkpoint.key", (file) => writeFileSync(file, "no key"), "bad_checkpoint_key"));

  it("because of another writer does not touch that writer's lock", async () => {
    const first = await openTestService(folder.path);
    const open = openIn(folder.path);
    for (let i = 0; i < 2; i++) {
      const error = await openTestService(folder.path).catch((reason) => reason);
      expect(error).to.have.property("code", "ledger_locked");
    }
    expect(openIn(folder.path)).to.deep.equal(open);
    await first.close();
    expect(openIn(folder.path)).to.deep.equal([]);
  });
});
