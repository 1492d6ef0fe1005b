// The mirror's process: `node services/settlement/mirror/main.ts SOURCE`. Environment variables configure it
// (mirrorConfig.ts).
import { InvalidInputError } from "tallystick-protocol/errors";
import { runService } from "tallystick-runtime/processes/runService";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readMirrorConfig } from "./mirrorConfig.ts";
import { runMirror } from "./runMirror.ts";

await runService(async () => {
  const [source] = process.argv.slice(2);
  if (!source)
    throw new InvalidInputError({
      issues: [{ field: "SOURCE", message: "must be the address of the ledger to mirror" }],
    });
  const config = readMirrorConfig(process.env);
  const parameters = { config, source, recheck: false, now: () => Date.now() / 1000, log };
  const { url, folder, close } = await runMirror(parameters);
  return { url, close, about: { folder } };
});
