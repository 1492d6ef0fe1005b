import type { Command } from "commander";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { serveUntilStopped } from "../cli/serveUntilStopped.ts";

/** `tallystick dispatch`: sends tasks to models, and settles their answers, until it is told to stop. */
export function registerDispatch(program: Command): void {
  program
    .command("dispatch")
    .description(
      "Take tasks at POST /v1/dispatch, let the cheapest model that can do each task do it, and settle the " +
        "answer at DISPATCH_SETTLEMENT_URL. DISPATCH_MODELS_FILE names the models with their prices and " +
        "limits.",
    )
    .addHelpText("after", "\nTo begin, copy services/dispatch/models.example.yaml. See docs/dispatch.md.")
    .action(async () => {
      const { readDispatchConfig } = await import("../../services/dispatch/config.ts");
      const config = readDispatchConfig(process.env);
      const { runDispatch } = await import("../../services/dispatch/runDispatch.ts");
      await serveUntilStopped(async () => {
        const { url, close } = await runDispatch(config, log);
        return { url, close, about: { models: [...config.models.models.keys()] } };
      });
    });
}
