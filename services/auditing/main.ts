// The process of an operator of audits: `node services/auditing/main.ts`. Environment variables configure it (config.ts).
import { runService } from "tallystick-runtime/processes/runService";
import { readAuditingConfig } from "./config.ts";
import { runOperator } from "./runOperator.ts";

await runService(async () => {
  const config = readAuditingConfig(process.env);
  const { url, close } = await runOperator(config);
  return { url, close, about: { node: config.nodeUrl, folder: config.folder } };
});
