import type { Command } from "commander";
import { plainJson } from "tallystick-runtime/plainText";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { createProgress } from "../cli/progress.ts";
import { serveUntilStopped } from "../cli/serveUntilStopped.ts";
import { watchShutdown } from "../cli/shutdown.ts";

type Options = { key?: string; policy?: string; dir?: string; once?: boolean; recheck?: boolean };

/** `tallystick ledger mirror URL`: keeps a verified copy of a ledger, and serves it. */
export function registerLedgerMirror(ledger: Command): void {
  ledger
    .command("mirror")
    .description(
      "Keep a verified copy of a ledger in a folder, and serve it. Every entry is compared with the one\n" +
        "before, and the tree with the signed checkpoint. With MIRROR_LEDGER and ANCHORED_LEDGER, the tree is also compared\n" +
        "with the head in the contract.",
    )
    .argument("<source>", "a settlement service, or a static log (C2SP tlog-tiles): its address")
    .option("--key <vkey>", "the ledger's verifier key, from a source other than the ledger (or MIRROR_VKEY)")
    .option("--policy <file>", "the trusted logs and witnesses, C2SP tlog-policy (or MIRROR_POLICY)")
    .option("--dir <folder>", "the folder of the copy (or MIRROR_DIR)")
    .option("--once", "look at the source once and end: 0 when it agrees with the copy, else 1")
    .option("--recheck", "first read the whole copy again, and fetch damaged files")
    .addHelpText(
      "after",
      "\nThe folder is a static log: any static host serves it, and verify-ledger reads it. Entries that" +
        "\ncontradict the copy are not added to it; they are kept in evidence/. With MIRROR_S3_URL the files also go to an object store." +
        "\nA lost settlement service restores its ledger from here: tallystick ledger pull --from URL-OF-THE-MIRROR.",
    )
    .action(async (source: string, options: Options) => {
      const { readMirrorConfig } = await import("../../services/settlement/mirror/mirrorConfig.ts");
      const config = readMirrorConfig({
        ...process.env,
        ...(options.key !== undefined && { MIRROR_VKEY: options.key }),
        ...(options.policy !== undefined && { MIRROR_POLICY: options.policy }),
        ...(options.dir !== undefined && { MIRROR_DIR: options.dir }),
      });
      const { openMirror, runMirror } = await import("../../services/settlement/mirror/runMirror.ts");
      const parameters = { config, source, recheck: options.recheck ?? false, now, log };
      if (options.once) {
        const shutdown = watchShutdown();
        await createProgress().step("mirror", async (tell) => {
          const onProgress = (size: number, of: number) => tell(`${size} of ${of} entries`);
          const { mirror, copy, round } = await openMirror({ ...parameters, onProgress });
          const isGood = await round(shutdown.signal);
          const { refusal, ...state } = mirror.state;
          await mirror.close();
          const bucket = copy && { bucket: copy.state };
          const reason = refusal && { code: refusal.code, reason: refusal.message };
          process.stdout.write(`${plainJson({ agrees: isGood, ...state, ...reason, ...bucket })}\n`);
          if (!isGood) process.exitCode = 1;
          return { value: undefined };
        });
        shutdown.release();
        return;
      }
      await serveUntilStopped(async () => {
        const { url, folder, close } = await runMirror(parameters);
        return { url, close, about: { folder } };
      });
    });
}

function now(): number {
  return Date.now() / 1000;
}
