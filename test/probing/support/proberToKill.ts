// A prober in a separate process, for a test that kills it. Its arguments are `FOLDER PORT COUNT NOW PER_SECOND`. It runs
// one slot and prints "done".
import { agent, listingAt, openTestProber } from "./openTestProber.ts";

const [folder = "", port, count, now, perSecond] = process.argv.slice(2);
const targets = Array.from({ length: Number(count) }, (_, index) =>
  listingAt(`127.2.0.${index + 1}:${port}`, agent(index + 1)),
);
const changes = { requestsPerSecond: Number(perSecond) };
const { prober } = await openTestProber(folder, targets, changes, { now: Number(now) });
prober.tick();
await prober.idle();
await prober.close();
process.stdout.write("done\n");
