import type { Command } from "commander";
import { InvalidInputError } from "tallystick-protocol/errors";
import { fromHex } from "tallystick-protocol/hex";
import { stderrLog } from "tallystick-runtime/stderrLog";
import { DiskLedger } from "../../services/settlement/ledger/diskLedger.ts";
import { postgresStore } from "../../services/settlement/standby/postgresStore.ts";
import { shareLedger } from "../../services/settlement/standby/shareLedger.ts";
import { ledgerConfig, ledgerFolder } from "./ledgerSettings.ts";

/** `tallystick ledger share`: begins or completes the shared store of a ledger from this machine's copy. */
export function registerShare(ledger: Command): void {
  ledger
    .command("share")
    .description(
      "Put this machine's ledger into the shared store (LEDGER_STORE_URL). Run it once when a ledger that has entries gets a\n" +
        "stand-by, and after the database was lost or restored from an older copy. Run it only on the machine with the newest\n" +
        "copy, while no machine of the ledger runs.",
    )
    .action(async () => {
      const config = await ledgerConfig();
      const { sharedStore } = config;
      if (sharedStore === undefined) {
        const issues = [{ field: "LEDGER_STORE_URL", message: "must be set" }];
        throw new InvalidInputError({ issues, code: "invalid_configuration" });
      }
      const { url, leaseSeconds } = sharedStore;
      const key = fromHex(sharedStore.key, 32);
      const leaseMs = 1_000 * leaseSeconds;
      const store = postgresStore({ url, key, ledger: config.ledger, leaseMs, log: stderrLog });
      const kept = await DiskLedger.open({ folder: ledgerFolder(config) });
      try {
        const { size, put, began } = await shareLedger(kept, store);
        const done = began ? `begins at entry ${size}` : `has ${size} entries, ${put} of them new`;
        process.stdout.write(`The shared store ${done}.\n`);
      } finally {
        await store.release().catch(() => {});
        await store.close();
        await kept.close();
      }
    });
}
