import type { Command } from "commander";
import { TallystickError } from "tallystick-protocol/errors";
import { parseVerifierKey } from "tallystick-protocol/note/signedNote";
import { checkLedgerFolder, isLedgerFolder } from "../../services/settlement/fsck/checkLedgerFolder.ts";
import { checkLog } from "../../services/settlement/fsck/checkLog.ts";
import type { Findings } from "../../services/settlement/fsck/fault.ts";
import { isAddress } from "../../services/settlement/staticLog/logSource.ts";
import { NOT_CHECKED } from "../cli/exitCodes.ts";
import { printError } from "../cli/printError.ts";
import { printResult } from "../cli/printResult.ts";
import { createProgress } from "../cli/progress.ts";
import { watchShutdown } from "../cli/shutdown.ts";
import { readPolicy } from "../verification/readPolicy.ts";
import { refuseOptions } from "../verification/refuseOptions.ts";

type Options = { key?: string[]; policy?: string; json?: boolean };

/** `tallystick ledger fsck DIR|URL`: lists every fault of a ledger or of a copy, with its place. */
export function registerLedgerFsck(ledger: Command): void {
  ledger
    .command("fsck")
    .description(
      "Check a whole ledger, or a copy of it. Tell the place of every fault, and what to do about it. Nothing is written.",
    )
    .argument("<source>", "the folder of a service's ledger, of a mirror or of a static log; or an address")
    .option(
      "--key <vkey...>",
      "of a mirror or log: the ledger's verifier key, from a source other than the log",
    )
    .option("--policy <file>", "of a mirror or log: the trusted logs and witnesses (C2SP tlog-policy)")
    .option("--json", "print one line of JSON")
    .addHelpText(
      "after",
      "\nExits with 0 when nothing is wrong, with 1 when something is wrong, and with 2 when the check did not come to its end." +
        "\n`verify-ledger` ends at the first fault. `fsck` continues, and looks at every file, also at the tiles of hashes.",
    )
    .action(async (source: string, options: Options) => {
      const isFolder = !isAddress(source) && (await isLedgerFolder(source));
      if (isFolder) {
        const { key, policy } = options;
        const what = "the folder of a service's ledger, where no signature is checked";
        refuseOptions({ "--key": key, "--policy": policy }, what);
      }
      const trust = {
        keys: options.key?.map((key) => parseVerifierKey(key, "--key")),
        policy: options.policy === undefined ? undefined : await readPolicy(options.policy),
      };
      const shutdown = watchShutdown();
      const { signal } = shutdown;
      try {
        const findings = await createProgress({ silent: options.json ?? false }).step(
          "check",
          async (tell) => {
            const onProgress = (done: number, of: number) =>
              tell(`${Math.floor((100 * done) / Math.max(1, of))} %`);
            const value = isFolder
              ? await checkLedgerFolder({ folder: source, onProgress, signal })
              : await checkLog({ source, ...trust, onProgress, signal });
            return { value };
          },
        );
        const { faultCount } = findings;
        const shown = { source, whole: faultCount === 0, ...findings };
        printResult(options, shown, () => asText(source, findings));
        if (faultCount > 0) process.exitCode = 1;
      } catch (error) {
        if (!(error instanceof TallystickError) && !signal.aborted) throw error;
        if (!signal.aborted) printError(error);
        process.exitCode = NOT_CHECKED;
      } finally {
        shutdown.release();
      }
    });
}

function asText(
  source: string,
  { faults, faultCount, notes, entries, root, origin, trusted }: Findings,
): string[] {
  const number = (count: number) => count.toLocaleString("en-US");
  const todos = [...new Set(faults.map(({ todo }) => todo))];
  return [
    faultCount === 0
      ? `${source} is whole.`
      : `${source} has ${number(faultCount)} ${faultCount === 1 ? "fault" : "faults"}.`,
    ...(origin === undefined ? [] : [`log     ${origin}`]),
    `entries ${entries}`,
    `root    ${root}`,
    ...faults.map(({ file, line, what }) => `${file}${line === undefined ? "" : `, line ${line}`}: ${what}`),
    ...(faultCount > faults.length ? [`… and ${number(faultCount - faults.length)} more`] : []),
    ...todos.map((todo) => `→ ${todo}`),
    ...notes,
    ...(trusted === false
      ? [
          "No key was given, so this shows only that the log agrees with itself. Give --key or --policy to check who signed it.",
        ]
      : []),
  ];
}
