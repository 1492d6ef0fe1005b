// A prober in a process of its own, for the soak that kills it. Its arguments are
// `FOLDER PORT HOSTS FIRST_SLOT PER_SECOND`. It goes through the slots of an hour as fast as the hosts answer, prints
// each slot before it begins, and prints its reports. In one slot its uplink is lost.
import { setTimeout as wait } from "node:timers/promises";
import { ask } from "../../../services/probing/net/ask.ts";
import { openProberFolder } from "../../../services/probing/proberFolder.ts";
import { SLOT_SECONDS } from "../../../services/probing/schedule/slots.ts";
import { DAY, DAY_SECONDS, listingsOf, openProber } from "./soakWorld.ts";
import { askHosts } from "./startHosts.ts";
import { testCertificate } from "./testCertificate.ts";

/** The slot of the hour in which nothing can be reached. */
const LOST_SLOT = 10;
const SLOTS = 12;

const [folder = "", ...numbers] = process.argv.slice(2);
const [port = 0, hosts = 0, first = 0, requestsPerSecond = 0] = numbers.map(Number);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const release = await openProberFolder(folder);
let slot = first;
/** Seconds since the slot began. */
let into = 0;
const isOver = () => slot === SLOTS;
const prober = await openProber(
  { folder, sent: [] },
  {
    now: () => DAY * DAY_SECONDS + slot * SLOT_SECONDS + into,
    requestsPerSecond,
    ca: testCertificate.cert,
    listings: () => listingsOf(hosts, port),
    testUplink: async () => slot !== LOST_SLOT,
    ask: async (question) => {
      if (slot === LOST_SLOT || isOver()) throw new Error("the network is unreachable");
      return await ask(question);
    },
    send: async (body) => {
      say(JSON.stringify(body));
      return { hash: "00" };
    },
  },
);
await prober.refresh();
for (; slot < SLOTS; slot++) {
  while (slot !== LOST_SLOT && prober.status().uplink === "lost") await wait(100);
  await askHosts(port, `/slot/${slot}`);
  say(`slot ${slot}`);
  into = 0;
  prober.tick();
  // At this time every host is due.
  into = SLOT_SECONDS - 2;
  prober.tick();
  await prober.idle();
}
// The hour is reported some time after its end. In the next hour the prober reaches no host.
into = 60;
prober.tick();
await prober.report();
await prober.close();
await release();
say(`resident ${Math.round(process.resourceUsage().maxRSS / 1_024)}`);
