// The process of an operator of audits: `node --import tsx services/auditing/main.ts`. Environment variables configure it
// (config.ts).
import { TallystickError } from "tallystick-protocol/errors";
import { surviveRequests } from "tallystick-runtime/http/requestScope";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readAuditingConfig } from "./config.ts";
import { runOperator } from "./runOperator.ts";

function end(error: unknown): never {
  if (error instanceof TallystickError) {
    process.stderr.write(`error: ${error.message}\n${error.hint ? `hint: ${error.hint}\n` : ""}`);
  } else {
    process.stderr.write(`error: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  process.exit(1);
}

async function main(): Promise<void> {
  const config = readAuditingConfig(process.env);
  surviveRequests((error) => log("A request left a fault behind.", { error }), end);
  const running = await runOperator(config);
  process.stdout.write(
    `${JSON.stringify({ listening: running.url, node: config.nodeUrl, folder: config.folder })}\n`,
  );
  let stopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      log("Stopping.", { signal });
      running.close().then(() => process.exit(0), end);
    });
  }
}

main().catch(end);
