// A process that opens the service on a ledger and says what that took: `openLedger.ts LEDGER_DIR`.
import { readConfig } from "../../../services/settlement/config.ts";
import { openService } from "../../../services/settlement/service.ts";

// With a key of its own: beside entries the service makes none.
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
// As the operating system counts, and at its highest.
const rssMb = process.resourceUsage().maxRSS / 1024;
const proofs = 1_000;
const proofStart = performance.now();
for (let i = 0; i < proofs; i++) service.ledger.tree.inclusionProof(Math.floor((i / proofs) * size), size);
const proofMs = (performance.now() - proofStart) / proofs;
await service.close();
process.stdout.write(JSON.stringify({ seconds: (opened - start) / 1000, rssMb, proofMs }));
