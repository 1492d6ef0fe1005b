import { ed25519 } from "@noble/curves/ed25519.js";
import type { Command } from "commander";
import { InvalidInputError } from "tallystick-protocol/errors";
import { formatVerifierKey, noteVerifierKey } from "tallystick-protocol/note/signedNote";
import { plainJson } from "tallystick-runtime/plainText";
import { lockFolder } from "../../services/settlement/ledger/lockFolder.ts";
import {
  checkpointKeys,
  finishKeyRotation,
  ROTATION_SECONDS,
  startKeyRotation,
} from "../../services/settlement/proofs/checkpointKey.ts";
import { ledgerConfig, ledgerFolder } from "./ledgerSettings.ts";

/**
 * `tallystick ledger rotate-key`: changes the key of a ledger's checkpoints, with a time in which both keys
 * sign.
 */
export function registerRotateKey(ledger: Command): void {
  ledger
    .command("rotate-key")
    .description(
      "Make another key for the checkpoints (checkpoint.key.next). From the next start on, both keys sign, " +
        "so that followers can learn the next key from GET /v1/ledger/key. After 30 days, --finish replaces " +
        "the present key by the next one.",
    )
    .option("--finish", "replace the present key by the next one")
    .option(
      "--now",
      "with --finish: do not wait for the end of the 30 days. Use this if somebody has stolen the present key",
    )
    .option("--json", "print one line of JSON")
    .action(async ({ finish = false, now = false, json = false }: RotateOptions) => {
      if (now && !finish) throw wrong("--now", "needs --finish");
      const config = await ledgerConfig();
      const folder = ledgerFolder(config);
      const time = Date.now() / 1000;
      if (finish && config.checkpointPrivateKey !== undefined) {
        const message =
          "must be removed from the settings first: otherwise this key continues to sign, and the next key is not used";
        throw wrong("CHECKPOINT_PRIVATE_KEY", message);
      }
      const release = await lockFolder(folder);
      try {
        // A missing key must be restored before it can be rotated.
        if (!finish && config.checkpointPrivateKey === undefined) await checkpointKeys(folder, { size: 1 });
        const { seed, from = time } = finish
          ? await finishKeyRotation(folder, time, now)
          : await startKeyRotation(folder, time);
        const verifierKey = formatVerifierKey(noteVerifierKey(config.origin, ed25519.getPublicKey(seed)));
        const ends = new Date((from + ROTATION_SECONDS) * 1000).toISOString().slice(0, 10);
        const result = { verifier_key: verifierKey, signs: finish ? "alone" : "beside", ends };
        process.stdout.write(
          json
            ? `${plainJson(result)}\n`
            : `${verifierKey}\n${
                finish
                  ? "signs alone from the next start on. The key before it is gone."
                  : `signs beside the present key from the next start on. After ${ends}: tallystick ledger rotate-key --finish`
              }\n`,
        );
      } finally {
        await release();
      }
    });
}

type RotateOptions = { finish?: boolean; now?: boolean; json?: boolean };

function wrong(field: string, message: string): InvalidInputError {
  return new InvalidInputError({ issues: [{ field, message }] });
}
