import { access } from "node:fs/promises";
import path from "node:path";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { compareWithChain } from "../anchoring/compareWithChain.ts";
import type { LedgerOnChain } from "../anchoring/readLedgerOnChain.ts";
import { DiskLedger, LEDGER_FILE } from "./diskLedger.ts";
import {
  LAST_SIGNED_FILE,
  LAST_WORD_FILE,
  type LastSigned,
  readLastSigned,
  writeLastSigned,
} from "./lastSigned.ts";
import { makeFolder } from "./makeFolder.ts";

/**
 * Accepts the ledger in a folder as the one to continue. Writes what was signed last: the contract's head, or
 * the ledger's own last entry when there is no chain. Before that the whole ledger is verified and compared
 * with the chain.
 *
 * With `wordsFolder`, a missing `last-word.json` is written too, as if the contract's head were the last anchor that
 * was signed. Any later anchor that was signed is then forgotten. So adopt such a ledger only if you know that it is
 * the newest copy.
 *
 * @param onChain the ledger on chain and its writer; undefined when the ledger is not anchored.
 * `wordsFolder`: the folder of `last-word.json`, which has the largest anchor that was signed for a relayer
 * @throws TallystickError `no_ledger`; `last_signed_present` when no file is missing; `ledger_locked` while a
 * service writes the ledger; `bad_last_signed`; those of {@link compareWithChain}; LedgerLineError
 */
export async function adoptLedger(
  folder: string,
  onChain?: LedgerOnChain & { expectedWriter: Address; wordsFolder?: string | undefined },
): Promise<LastSigned> {
  const file = path.join(folder, LEDGER_FILE);
  await access(file).catch(() => {
    throw new TallystickError({
      code: "no_ledger",
      message: `There is no ${file}.`,
      hint: "Use the same settings as the service, such as LEDGER_DIR: they name the folder.",
    });
  });
  const ledger = await DiskLedger.open({ folder });
  try {
    const { wordsFolder } = onChain ?? {};
    const known = await readLastSigned(folder);
    const lacksWord =
      wordsFolder !== undefined && (await readLastSigned(wordsFolder, LAST_WORD_FILE)) === undefined;
    if (known !== undefined && !lacksWord) {
      throw new TallystickError({
        code: "last_signed_present",
        message: `${path.join(folder, LAST_SIGNED_FILE)} is there: ${known.size} entries were signed.`,
        hint:
          "Nothing needs to be adopted. If signed entries are permanently lost, fetch the anchored ones with" +
          " tallystick ledger pull; without a chain, remove the file and adopt again.",
      });
    }
    const { tree } = ledger;
    if (onChain !== undefined) compareWithChain(onChain, { tree, writer: onChain.expectedWriter });
    const size = onChain === undefined ? tree.size : Number(onChain.ledger?.head.size ?? 0n);
    const adopted = { size, root: toHex(tree.root(size)) };
    if (known === undefined) await writeLastSigned(folder, adopted);
    if (lacksWord) {
      await makeFolder(wordsFolder);
      await writeLastSigned(wordsFolder, adopted, LAST_WORD_FILE);
    }
    return adopted;
  } finally {
    await ledger.close();
  }
}
