import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { formatTilePath, type Tile } from "tallystick-protocol/merkle/tilePath";
import { parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import { entriesOf } from "../design/countOf.ts";
import { nodeUrl } from "../node/nodeUrl.ts";
import { readBytes } from "../node/readBytes.ts";
import { type Check, type Finding, fails, holds, isOpen } from "../verify/check.ts";
import type { Tree } from "../verify/verifyHead.ts";
import { rootFromTiles } from "./tiles.ts";

/** The most bytes of an answer. No checkpoint and no tile of hashes is longer. */
const MAX_BYTES = 1_000_000;

/**
 * Reads the log's newest checkpoint and its tiles. It computes the roots of the checkpoint and of the
 * anchored head from the same tiles. If both are right, one log has both heads.
 */
export async function verifyTiles(
  ledger: Tree & { origin: string | null },
  signal: AbortSignal,
): Promise<Finding> {
  const title = "The log's tiles";
  try {
    const note = parseSignedNote(new TextDecoder().decode(await askBytes("checkpoint", signal)));
    const { origin, size, root } = parseCheckpoint(note.text);
    if (origin !== ledger.origin)
      return { title, checks: [isOpen("The tiles behind this node belong to another ledger", origin)] };
    const kept = new Map<string, Uint8Array>();
    const read = async (tile: Tile): Promise<Uint8Array> => {
      const path = `tile/${formatTilePath(tile)}`;
      const bytes = kept.get(path) ?? (await askBytes(path, signal));
      kept.set(path, bytes);
      return bytes;
    };
    const checks: Check[] = [];
    const compare = async (what: string, { size: at, root: told }: Tree) => {
      const found = toHex(await rootFromTiles(at, read));
      checks.push(
        found === told
          ? holds(`The tiles make the root of ${what}, of ${entriesOf(at)}`, found)
          : fails(`The tiles do not make the root of ${what}`, `They make ${found}, ${what} says ${told}.`),
      );
    };
    await compare("the newest checkpoint", { size, root: toHex(root) });
    if (ledger.size <= size) await compare("the anchored head", ledger);
    else
      checks.push(
        fails(
          "The newest checkpoint is older than the anchored head",
          `It has ${entriesOf(size)}, the head ${ledger.size.toLocaleString("en")}.`,
        ),
      );
    checks.push(
      isOpen(
        kept.size === 1 ? "One tile was read" : `${kept.size} tiles were read`,
        "They hold hashes. The checkpoint's key shows who signed it.",
      ),
    );
    return { title, checks };
  } catch (error) {
    if (!(error instanceof TallystickError) && !(error instanceof RangeError)) throw error;
    return { title, checks: [fails("The tiles cannot be read", error.message)] };
  }
}

async function askBytes(path: string, signal: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(`${nodeUrl}/tlog/${path}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
  const bytes = await readBytes(response, MAX_BYTES);
  if (!response.ok || bytes === undefined)
    throw new RangeError(`/tlog/${path} cannot be read (status ${response.status}).`);
  return bytes;
}
