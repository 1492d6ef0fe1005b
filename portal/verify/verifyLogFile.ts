import { foldLog } from "tallystick-derive/foldLog";
import { snapshotOf } from "tallystick-derive/snapshot";
import { TallystickError } from "tallystick-protocol/errors";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { countOf } from "../design/countOf.ts";
import { type Finding, fails, holds, isOpen } from "./check.ts";
import { contractSignedChecks, signaturesChecked } from "./contractSigned.ts";
import { linesOf } from "./linesOf.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Derives an exported event log again, and checks every signature of a key in it. */
export async function verifyLogFile(file: Blob, onProgress: (share: number) => void): Promise<Finding> {
  const title = "An event log";
  async function* texts() {
    for await (const lines of linesOf(file, (bytes) => onProgress(bytes / file.size)))
      yield lines.map((it) => decoder.decode(it)).join("\n");
  }
  try {
    const { store, events, contractSigned } = await foldLog(texts(), { recover: await recoverByWasm() });
    const { asOf, agents, clusters, digest } = snapshotOf(store);
    return {
      title,
      checks: [
        holds(
          events === 1
            ? "The one event was derived"
            : `All ${events.toLocaleString("en")} events were derived`,
          `Each event is in an allowed place. ${signaturesChecked(contractSigned)}`,
        ),
        ...contractSignedChecks(contractSigned),
        holds(
          `They give ${countOf(Object.keys(agents).length, "agent")} and ${countOf(Object.keys(clusters).length, "cluster")}`,
          `as of block ${asOf.block}`,
        ),
        digest === null
          ? isOpen("There is no digest before the first tick")
          : holds("The digest of the log", digest),
        isOpen(
          "The digest shows whether the log is complete",
          "Compare it with the digest that nodes give for the same block. A missing line changes it.",
        ),
      ],
    };
  } catch (error) {
    if (
      !(error instanceof TallystickError) &&
      !(error instanceof RangeError) &&
      !(error instanceof TypeError)
    )
      throw error;
    return { title, checks: [fails("The log cannot be derived", error.message)] };
  }
}
