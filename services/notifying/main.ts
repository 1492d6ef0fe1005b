// The sender of notices: `node services/notifying/main.ts`. Environment variables configure it (config.ts).
import { runService } from "tallystick-runtime/processes/runService";
import { readNotifierConfig } from "./config.ts";
import { runNotifier } from "./runNotifier.ts";

await runService(async () => {
  const config = readNotifierConfig(process.env);
  const { url, close } = await runNotifier(config);
  return { url, close, about: { node: config.nodeUrl, folder: config.folder } };
});
