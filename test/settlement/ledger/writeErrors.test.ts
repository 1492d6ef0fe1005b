import { readFileSync } from "node:fs";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { diskReason } from "../../../services/settlement/ledger/diskReason.ts";
import {
  committedElsewhere,
  isOutcomeUnknown,
  notReleased,
  notTaken,
  perhapsWritten,
  refusal,
  unavailable,
} from "../../../services/settlement/ledger/writeErrors.ts";

describe("the error of a write", () => {
  const cause = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });

  it("says whether what was sent is settled, and what to do", () => {
    const again =
      "Send a record again: the same record gets the same entry. For a proposal ask GET /v1/status/{task_id} first.";
    const nothing = "Nothing of this was written. The operator checks the disk (space, permissions, health).";
    const unreleased = refusal(cause);
    for (const [error, code, message, hint] of [
      [unavailable("It is closed.", cause), "ledger_unavailable", "It is closed.", nothing],
      [
        refusal(cause),
        "ledger_unavailable",
        "The ledger cannot be written: ENOSPC: no space left on device, write.",
        nothing,
      ],
      [
        perhapsWritten(cause),
        "outcome_unknown",
        "The disk failed while this was written: ENOSPC: no space left on device, write. Perhaps it is settled.",
        "Wait until the service answers again. Then send a record again: the same record gets the same entry." +
          " For a proposal ask GET /v1/status/{task_id} first.",
      ],
      [
        committedElsewhere(cause),
        "outcome_unknown",
        "The ledger cannot be written here: ENOSPC: no space left on device, write. What you sent is settled: the" +
          " shared store has it.",
        `Another machine continues the ledger. ${again}`,
      ],
      [
        notTaken(cause),
        "outcome_unknown",
        "The ledger cannot continue here: ENOSPC: no space left on device, write. What you sent is settled: the" +
          " ledger's file has it.",
        `${again} The operator starts the service again.`,
      ],
      [
        notReleased(unreleased),
        "outcome_unknown",
        `The review is settled, and what it releases is not settled yet. ${unreleased.message}`,
        "Send the same review again when the disk accepts writes. Without that, the next release or the next start" +
          " settles it.",
      ],
    ] as const) {
      expect(error).to.include({ code, message, hint });
      expect(error.cause).to.equal(
        code === "outcome_unknown" && error.message.startsWith("The review") ? unreleased : cause,
      );
      expect(isOutcomeUnknown(error)).to.equal(code === "outcome_unknown");
    }
    expect(isOutcomeUnknown({ code: "outcome_unknown" })).to.equal(false);
    expect(isOutcomeUnknown(new TallystickError({ code: "other", message: "x" }))).to.equal(false);
  });

  it("has the reason of the disk without the path, which is not for clients", () => {
    const missing = (() => {
      try {
        return readFileSync("/no such folder/it's, here 'x'\n/ledger.jsonl");
      } catch (error) {
        return error;
      }
    })();
    expect(diskReason(missing)).to.equal("ENOENT: no such file or directory");
    expect(diskReason(cause)).to.equal("ENOSPC: no space left on device, write");
    expect(diskReason(new Error("it has, so 'x'"))).to.equal("it has, so 'x'");
    expect(diskReason("a text")).to.equal("a text");
    expect(diskReason(undefined)).to.equal("undefined");
  });
});
