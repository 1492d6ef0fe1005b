// Runs a dispatcher in a folder. It continues the open tasks of the folder, does one task, and prints the outcome.
import { readFileSync } from "node:fs";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { createDispatcher } from "../../../services/dispatch/dispatcher.ts";
import { parseDollars } from "../../../services/dispatch/models/money.ts";
import { readModels } from "../../../services/dispatch/models/readModels.ts";

const [folder = "", baseUrl = "", apiKey = "", yaml = "", task = ""] = process.argv.slice(2);
const dispatcher = createDispatcher({
  models: readModels(readFileSync(yaml, "utf8")),
  settlement: { baseUrl, apiKey },
  store: fileStore(folder),
  perTask: parseDollars("1", "perTask"),
  perDay: parseDollars("10", "perDay"),
  environment: {},
});
await dispatcher.resume();
process.stdout.write(`${JSON.stringify(await dispatcher.dispatch(JSON.parse(task)))}\n`);
await dispatcher.close();
