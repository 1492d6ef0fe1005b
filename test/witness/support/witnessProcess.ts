// Cosigns one size after another, and prints each size after its answer. Arguments: the folder, and the log's size in it.

import { Witness } from "../../../services/witness/witness.ts";
import { WitnessStore } from "../../../services/witness/witnessStore.ts";
import { logKey, testLog } from "./testLog.ts";

const [folder = "", from = "0"] = process.argv.slice(2);
const store = new WitnessStore(folder);
const seed = new Uint8Array(32).fill(6);
const witness = new Witness({
  name: "witness.test/w1",
  seed,
  logs: [logKey],
  store,
  now: () => 1_767_225_600,
});
const log = testLog();
for (let size = Number(from); size < 100_000; size++) {
  witness.add(log.request(size, size + 1));
  process.stdout.write(`${size + 1}\n`);
  await new Promise((resolve) => setImmediate(resolve));
}
