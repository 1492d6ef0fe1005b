// A process that reserves 7 units at a time from a shared budget of 500, and prints the number of its reservations.
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { fileStore } from "tallystick-sdk/store/fileStore";

const [folder = "", name = "", count = "0"] = process.argv.slice(2);
const budget = storeBudget({ store: fileStore(folder), name: "shared", limit: 500n });
let taken = 0;
for (let at = 0; at < Number(count); at++) {
  try {
    await budget.reserve(`${name}-${at}`, 7n);
    taken++;
  } catch {
    // The budget is used up.
  }
}
process.stdout.write(String(taken));
