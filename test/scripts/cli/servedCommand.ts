// A command whose service fails a moment after its answer, for serveUntilStopped.test.ts.
import { listen } from "tallystick-runtime/http/listen";
import { serveUntilStopped } from "../../../scripts/cli/serveUntilStopped.ts";

await serveUntilStopped(async (onFault) => {
  const server = await listen(
    (request, response) => {
      response.end("served");
      if (request.url === "/fails") void Promise.reject(new Error("it fails later"));
    },
    { host: "127.0.0.1", port: 0, settings: "X_HOST and X_PORT", onFault },
  );
  return { ...server, about: { folder: "here" } };
});
process.stdout.write("closed\n");
