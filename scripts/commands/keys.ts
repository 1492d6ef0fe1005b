import path from "node:path";
import Table from "cli-table3";
import type { Command } from "commander";
import { plainJson } from "tallystick-runtime/plainText";
import { keysFileIn } from "../../services/settlement/config.ts";
import { addKey, readKeyFile, revokeKey } from "../../services/settlement/keys/keyFile.ts";
import { readAddress } from "../cli/readAddress.ts";

/** `tallystick keys add|list|revoke`: who may settle proposals. A running service notices a change within a second. */
export function registerKeys(program: Command): void {
  const keys = program
    .command("keys")
    .description("Issue and revoke the API keys of POST /v1/settle.")
    .option("--file <file>", "the file of keys (default: KEYS_FILE, else keys.json in LEDGER_DIR)");

  const file = (): string => {
    const { KEYS_FILE, LEDGER_DIR = "./.tallystick/ledger" } = process.env;
    return path.resolve(keys.opts<{ file?: string }>().file ?? (KEYS_FILE || keysFileIn(LEDGER_DIR)));
  };
  const now = (): number => Date.now() / 1000;

  keys
    .command("add")
    .description("Make a key and print it once. Only its hash is kept.")
    .argument("<name>", "who it is for")
    .option(
      "--agent <address>",
      "the agent that will use the key: the outcomes of its proposals count for this agent",
    )
    .action(async (name: string, options: { agent?: string }) => {
      const agent = options.agent === undefined ? undefined : readAddress(options.agent, "--agent");
      const { key, stored } = await addKey(file(), name, now(), agent);
      process.stderr.write(`Key ${stored.id} for ${name}. It is shown only now:\n`);
      process.stdout.write(`${key}\n`);
    });

  keys
    .command("list")
    .description("List the ids and the owners of the keys. The keys themselves are not stored.")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const stored = await readKeyFile(file());
      if (json) {
        process.stdout.write(`${plainJson(stored.map(({ sha256: _, ...rest }) => rest))}\n`);
        return;
      }
      const table = new Table({
        head: ["id", "name", "agent", "made", "revoked"],
        style: { head: [], border: [] },
      });
      for (const { id, name, agent = "", created_at, revoked_at } of stored) {
        table.push([id, name, agent, asTime(created_at), revoked_at === null ? "" : asTime(revoked_at)]);
      }
      process.stdout.write(`${table.toString()}\n`);
    });

  keys
    .command("revoke")
    .description("Revoke a key permanently.")
    .argument("<id>", "as `tallystick keys list` shows it")
    .action(async (id: string) => {
      const { name } = await revokeKey(file(), id, now());
      process.stdout.write(`Key ${id} of ${name} is revoked.\n`);
    });
}

function asTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
}
