// Starts a settlement process, prints its pid, and waits to be killed.
import { launchSettlement, listening } from "./settlementProcess.ts";

const [folder = ""] = process.argv.slice(2);
const { child } = await listening(launchSettlement({ LEDGER_DIR: folder }));
process.stdout.write(`${child.pid}\n`);
setInterval(() => {}, 60_000);
