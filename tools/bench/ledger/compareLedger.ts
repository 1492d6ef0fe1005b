// A process that compares a ledger's index once, as the service's thread does, and prints the cost: `compareLedger.ts
// FOLDER`.
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { INDEX_FILE } from "../../../services/settlement/engine/indexDatabase.ts";
import { compareIndexes } from "../../../services/settlement/verifying/compareIndexes.ts";

const [folder] = process.argv.slice(2) as [string];
const database = new DatabaseSync(path.join(folder, INDEX_FILE), { readOnly: true });
const { salt } = database.prepare("SELECT salt FROM meta").get() as { salt: string };
database.close();
const start = performance.now();
let read = 0;
const onProgress = (): void => {
  read = performance.now();
};
const { entries, rows } = await compareIndexes({
  ...{ folder, ledger: "local", salt, onProgress },
  pace: async () => {},
});
const seconds = (performance.now() - start) / 1_000;
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
process.stdout.write(
  JSON.stringify({
    entries,
    rows,
    seconds,
    readSeconds: (read - start) / 1_000,
    cpuSeconds,
    rssMb: maxRSS / 1024,
  }),
);
