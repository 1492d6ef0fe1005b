import type { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { parseVerifierKey } from "tallystick-protocol/note/signedNote";
import { verifyStaticLog } from "../../services/settlement/staticLog/verifyStaticLog.ts";
import { printResult } from "../cli/printResult.ts";
import { readPolicy } from "./readPolicy.ts";

/**
 * Verifies a static log and prints the result. The exit code is 1 when the log is not valid.
 *
 * @throws TallystickError `unreadable_log`; InvalidInputError naming an option
 */
export async function printStaticLog(
  source: string,
  options: { key?: string[]; policy?: string; json?: boolean },
): Promise<void> {
  const keys = options.key?.map((key) => parseVerifierKey(key, "--key"));
  const policy = options.policy === undefined ? undefined : await readPolicy(options.policy);
  try {
    const { size, head, root, origin, trusted } = await verifyStaticLog({ source, keys, policy });
    const shown = { file: source, valid: true, origin, entries: size, head, root: toHex(root), trusted };
    const text = [
      `${source} verifies.`,
      `log     ${origin}`,
      `entries ${size}`,
      `head    ${head}`,
      `root    ${toHex(root)}`,
      ...(trusted
        ? []
        : [
            "No key was given, so this shows only that the log agrees with itself. Give --key or --policy to check who signed it.",
          ]),
    ];
    printResult(options, shown, () => text);
  } catch (error) {
    const isBad = error instanceof LedgerLineError || (error as { code?: string }).code === "log_invalid";
    if (!isBad) throw error;
    const line = error instanceof LedgerLineError ? error.line : undefined;
    const reason = error instanceof LedgerLineError ? error.reason : (error as TallystickError).message;
    const shown = { file: source, valid: false, ...(line !== undefined && { line }), reason };
    const text = [`${source} does not verify.`, `${line === undefined ? "" : `entry ${line}: `}${reason}`];
    printResult(options, shown, () => text);
    process.exitCode = 1;
  }
}
