// A process that opens the service on a ledger and prints the cost: `openLedger.ts LEDGER_DIR`.
import { readConfig } from "../../../services/settlement/config.ts";
import { openService } from "../../../services/settlement/service.ts";

// The key is given here, because the service makes no key in a folder that already has entries.
const key = `0x${"11".repeat(32)}`;
const config = readConfig({ LEDGER_DIR: process.argv[2], CHECKPOINT_PRIVATE_KEY: key });
const start = performance.now();
const service = await openService({
  config,
  now: () => Date.now() / 1000,
  log: () => {},
  onFailure: () => {},
});
const opened = performance.now();
const { size } = service.ledger;
// The highest memory, as the operating system counts it.
const rssMb = process.resourceUsage().maxRSS / 1024;
const proofs = 1_000;
const proofStart = performance.now();
for (let i = 0; i < proofs; i++) service.ledger.tree.inclusionProof(Math.floor((i / proofs) * size), size);
const proofMs = (performance.now() - proofStart) / proofs;
const unread = async (): Promise<number> =>
  (await (await service.app.request("/health")).json()).verification.unread;
while ((await unread()) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
const read = performance.now();
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
await service.close();
process.stdout.write(
  JSON.stringify({
    seconds: (opened - start) / 1000,
    rssMb,
    proofMs,
    writesSeconds: (read - start) / 1000,
    writesRssMb: maxRSS / 1024,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
  }),
);
