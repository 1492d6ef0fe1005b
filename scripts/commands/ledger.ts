import path from "node:path";
import type { Command } from "commander";
import { toHex } from "tallystick-protocol/hex";
import { adoptLedger } from "../../services/settlement/ledger/adoptLedger.ts";
import { importLedger } from "../../services/settlement/ledger/importLedger.ts";
import { registerLedgerFsck } from "./ledgerFsck.ts";
import { registerLedgerMirror } from "./ledgerMirror.ts";
import { registerLedgerPull } from "./ledgerPull.ts";
import { registerRotateKey } from "./ledgerRotateKey.ts";
import { askChain, ledgerConfig, ledgerFolder } from "./ledgerSettings.ts";
import { registerShare } from "./ledgerShare.ts";
import { registerSuccession } from "./ledgerSuccession.ts";
import { layoutText } from "./verifyLedger.ts";

/** `tallystick ledger …`: an operator's work on a ledger while its service is stopped. */
export function registerLedger(program: Command): void {
  const ledger = program
    .command("ledger")
    .description(
      "Maintain the ledger of a settlement service: copies, keys, writers. Mirror a ledger, or check one.",
    )
    .addHelpText(
      "after",
      "\nStop the service first; only announce-writer, accept-writer, mirror and fsck may run next to it. The settings are those of the" +
        "\nservice (.env, or the shell). LEDGER_DIR, LEDGER_ORIGIN, ANCHOR_PRIVATE_KEY and those of the chain name the ledger" +
        "\nand where it is anchored.",
    );
  ledger
    .command("adopt")
    .description(
      "Continue the ledger that is on disk: verify it, compare it with the chain, and write what was signed last.\n" +
        "Run it once if a ledger has entries, but last-signed.json, or last-word.json in ANCHOR_WORDS_DIR, is missing.",
    )
    .action(async () => {
      const config = await ledgerConfig();
      const folder = ledgerFolder(config);
      const onChain = config.anchoring && {
        ...(await askChain(config)),
        expectedWriter: config.anchoring.writer,
        wordsFolder: config.anchoring.wordsDir && path.resolve(config.anchoring.wordsDir, config.ledger),
      };
      const { size, root } = await adoptLedger(folder, onChain);
      const source = onChain === undefined ? "its own last entry" : "the contract's head";
      process.stdout.write(`Adopted ${folder}: ${size} entries, root ${root}, from ${source}.\n`);
    });
  ledger
    .command("import")
    .description(
      "Take over a ledger that something else wrote, in any layout of its lines. It becomes the beginning of the configured\n" +
        "ledger, which must have no entries yet. Contents and hashes stay the same; the lines become canonical.",
    )
    .argument("<file>", "a ledger that tallystick verify-ledger takes")
    .action(async (file: string) => {
      const config = await ledgerConfig();
      const folder = ledgerFolder(config);
      const onChain = config.anchoring && {
        ...(await askChain(config)),
        expectedWriter: config.anchoring.writer,
      };
      const hasKey = config.checkpointPrivateKey !== undefined;
      const imported = await importLedger({ file, folder, now: Date.now() / 1000, onChain, hasKey });
      const { size, root, head, otherLayouts } = imported;
      process.stdout.write(
        `Imported ${file} into ${folder}.\nentries ${size}\nhead    ${head}\nroot    ${toHex(root)}\n` +
          `layout  ${layoutText(size, otherLayouts)}\n`,
      );
    });
  registerLedgerPull(ledger);
  registerLedgerMirror(ledger);
  registerLedgerFsck(ledger);
  registerRotateKey(ledger);
  registerSuccession(ledger);
  registerShare(ledger);
}
