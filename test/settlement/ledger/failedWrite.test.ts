import { appendFileSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { AppendFile, type AppendTarget } from "../../../services/settlement/ledger/appendFile.ts";
import { refusal as unwritable } from "../../../services/settlement/ledger/writeErrors.ts";
import { leaseLost, outcomeUnknown } from "../../../services/settlement/standby/storeErrors.ts";
import { faultyDisk } from "../support/faultyDisk.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** The ways in which a write fails so that nobody knows what is on the disk. */
const FAULTS = ["append", "sync", "length"] as const;
type Fault = (typeof FAULTS)[number];

describe("the answer to a write that fails", () => {
  const folder = temporaryFolder();
  const filePath = () => path.join(folder.path, "lines");
  let failures: Error[];
  beforeEach(() => {
    failures = [];
  });

  /** Opens a file. `onWrite` is called before each group is written. */
  async function open(onWrite: () => void = () => {}) {
    const disk = faultyDisk();
    const file = await AppendFile.open({
      filePath: filePath(),
      onFailure: (error) => failures.push(error),
      openFile: async (at) => {
        const opened = await disk.openFile(at);
        const appendFile: AppendTarget["appendFile"] = async (bytes) => {
          onWrite();
          await opened.appendFile(bytes);
        };
        return { ...opened, appendFile };
      },
    });
    const breakBy = (fault: Fault): void => {
      if (fault === "append") disk.faults.free = 1;
      else if (fault === "sync") disk.faults.syncFails = true;
      else appendFileSync(filePath(), "x");
    };
    return { file, breakBy };
  }
  const refusal = (work: Promise<unknown>): Promise<TallystickError> =>
    work.then(
      () => expect.fail("it was accepted"),
      (error) => (error instanceof TallystickError ? error : expect.fail(String(error))),
    );
  /** What was never sent, and what comes later, is written nowhere. */
  async function expectRefused(file: AppendFile, waiting?: Promise<TallystickError>) {
    const later = refusal(file.append("later\n"));
    for (const error of [(await waiting) ?? (await later), await later]) {
      expect(error).to.include({ code: "ledger_unavailable" });
      expect(error.hint).to.contain("Nothing of this was written");
      expect(error.message).not.to.contain("settled");
    }
    expect(failures).to.have.length(1);
    expect(failures[0]).to.include({ code: "ledger_unavailable" });
  }

  it("does not tell a client where the file is", async () => {
    const cause = await readFile(filePath()).catch((error: unknown) => error);
    expect(String(cause)).to.contain(filePath());
    expect(unwritable(cause).message).to.equal(
      "The ledger cannot be written: ENOENT: no such file or directory.",
    );
  });

  for (const fault of FAULTS) {
    it(`says of each line whether the shared store has it (${fault})`, async () => {
      const { file, breakBy } = await open();
      const stored: string[] = [];
      let waiting: Promise<TallystickError> | undefined;
      file.commitBy(async (bytes) => {
        stored.push(bytes.toString());
        waiting = refusal(file.append("waiting\n"));
        breakBy(fault);
      }, 1_000);
      const sent = await refusal(file.append("sent\n"));
      expect(sent).to.include({ code: "outcome_unknown" });
      expect(sent.message).to.contain("is settled: the shared store has it");
      await expectRefused(file, waiting);
      expect(stored).to.deep.equal(["sent\n"]);
      await file.close();
    });
  }

  for (const fault of ["sync", "length"] as const) {
    it(`says that a line is perhaps on the disk if nobody knows it (${fault})`, async () => {
      let waiting: Promise<TallystickError> | undefined;
      const { file, breakBy } = await open(() => {
        waiting = refusal(file.append("waiting\n"));
        breakBy(fault);
      });
      const sent = await refusal(file.append("sent\n"));
      expect(sent).to.include({ code: "outcome_unknown" });
      expect(sent.message).to.contain("Perhaps it is settled");
      await expectRefused(file, waiting);
      await file.close();
    });
  }

  it("says that a line is perhaps on the disk if a refused write cannot be undone", async () => {
    const { file, breakBy } = await open(() => {
      breakBy("append");
      breakBy("sync");
    });
    const sent = await refusal(file.append("sent\n"));
    expect(sent).to.include({ code: "outcome_unknown" });
    await expectRefused(file);
    await file.close();
  });

  it("cuts off no bytes that somebody else wrote", async () => {
    const { file, breakBy } = await open(() => {
      breakBy("append");
      appendFileSync(filePath(), "of somebody else\n");
    });
    expect(await refusal(file.append("sent\n"))).to.include({ code: "outcome_unknown" });
    expect(readFileSync(filePath(), "latin1")).to.contain("of somebody else\n");
    await expectRefused(file);
    await file.close();
  });

  it("names the reason to what waits, and not an outcome that is unknown for others only", async () => {
    const { file } = await open();
    const lost = leaseLost();
    let waiting: Promise<TallystickError> | undefined;
    file.commitBy(async () => {
      waiting = refusal(file.append("waiting\n"));
      throw outcomeUnknown(lost);
    }, 1_000);
    expect(await refusal(file.append("sent\n"))).to.include({ code: "outcome_unknown" });
    expect(await waiting).to.equal(lost);
    expect(failures).to.deep.equal([lost]);
    expect(await refusal(file.append("later\n"))).to.equal(lost);
    await file.close();
  });
});
