import { ed25519 } from "@noble/curves/ed25519.js";
import type { Command } from "commander";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { fromHex } from "tallystick-protocol/hex";
import { type NoteVerifierKey, noteVerifierKey, parseVerifierKey } from "tallystick-protocol/note/signedNote";
import type { SettlementConfig } from "../../services/settlement/config.ts";
import {
  MISSING_KEY_HINT,
  type PulledLedger,
  pullLedger,
} from "../../services/settlement/ledger/pullLedger.ts";
import { NEXT_KEY_FILE, readCheckpointKey } from "../../services/settlement/proofs/checkpointKey.ts";
import { askChain, ledgerConfig, ledgerFolder } from "./ledgerSettings.ts";

/** `tallystick ledger pull`: restores a ledger from anybody who follows it. */
export function registerLedgerPull(ledger: Command): void {
  ledger
    .command("pull")
    .description(
      "Restore the ledger up to its last anchor. From a mirror, restore it up to the mirror's last checkpoint. What the\n" +
        "disk still has stays. The rest comes from the source. Every entry is verified, and the root is compared with the\n" +
        "contract. The old file is kept next to the new one.",
    )
    .requiredOption(
      "--from <url>",
      "an indexer, replica or mirror that follows the ledger, or a settlement service",
    )
    .option(
      "--key <vkey...>",
      "verifier keys of the ledger's checkpoints, if checkpoint.key is lost too. With them, the entries after the\n" +
        "anchor that a mirror's checkpoint covers are restored",
    )
    .action(async ({ from, key = [] }: { from: string; key?: string[] }) => {
      const config = await ledgerConfig();
      const baseUrl = parseBaseUrl(from);
      const { ledger: onChain } = await askChain(config);
      const { head } = onChain ?? {};
      if (head === undefined || head.size === 0n || config.ledger === "local") {
        throw new TallystickError({
          code: "nothing_anchored",
          message: "The contract has no anchor of this ledger, so there is nothing to restore.",
          hint: "Check that LEDGER_ORIGIN, ANCHOR_PRIVATE_KEY and ANCHORED_LEDGER are those of the lost service.",
        });
      }
      const folder = ledgerFolder(config);
      const anchored = { size: Number(head.size), root: head.root };
      const keys = [
        ...(await ownKeys(config, folder)),
        ...key.map((text) => parseVerifierKey(text, "--key")),
      ];
      const pulled = await pullLedger({ folder, baseUrl, ledgerId: config.ledger, anchored, keys });
      process.stdout.write(`${pulledText(folder, anchored.size, pulled)}\n`);
    });
}

/** The keys that sign this ledger's checkpoints, if this machine has them. */
async function ownKeys(config: SettlementConfig, folder: string): Promise<NoteVerifierKey[]> {
  const given = config.checkpointPrivateKey && { seed: fromHex(config.checkpointPrivateKey, 32) };
  const keys = [given, await readCheckpointKey(folder), await readCheckpointKey(folder, NEXT_KEY_FILE)];
  return keys.flatMap((key) => (key ? [noteVerifierKey(config.origin, ed25519.getPublicKey(key.seed))] : []));
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return text.replace(/\/+$/, "");
  throw new InvalidInputError({ issues: [{ field: "--from", message: "must be an http or https address" }] });
}

function pulledText(folder: string, anchored: number, pulled: PulledLedger): string {
  const { size, root, kept, fetched, behindAnchor, lost, setAside, hasKey } = pulled;
  const entries = (count: number) => (count === 1 ? "1 entry" : `${count.toLocaleString("en-US")} entries`);
  const end = behindAnchor > 0 ? "that checkpoint" : "the last anchor";
  const loss =
    lost === null
      ? `Entries that were settled after ${end} are lost. Whether there are any is not known here.`
      : lost > 0
        ? `${entries(lost)} or more that were answered SETTLED after it are lost.`
        : "No lost entry is known. Entries that no copy here has would be lost.";
  return [
    `${folder} verifies up to its last anchor, ${entries(anchored)}.`,
    `entries ${size} (${kept} from disk, ${fetched} fetched)`,
    `root    ${root}`,
    ...(behindAnchor > 0
      ? [
          `${entries(behindAnchor)} after the anchor came back: a checkpoint of this ledger's own key covers them.`,
        ]
      : []),
    loss,
    ...(setAside === undefined ? [] : [`The old file is now ${setAside}.`]),
    ...(hasKey ? [] : [MISSING_KEY_HINT]),
  ].join("\n");
}
