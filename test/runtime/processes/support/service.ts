// A service for tests: `node service.ts quick|hangs|refused`.
import { InvalidInputError } from "tallystick-protocol/errors";
import { runService } from "tallystick-runtime/processes/runService";

const [, , kind] = process.argv;

await runService(async () => {
  if (kind === "refused") {
    throw new InvalidInputError({
      issues: [
        { field: "A", message: "is required" },
        { field: "B", message: "must be a port" },
      ],
      hint: "Set both.",
    });
  }
  const running = setInterval(() => {}, 1_000);
  const close = async (): Promise<void> => {
    if (kind === "hangs") await new Promise(() => {});
    clearInterval(running);
  };
  return { url: "http://127.0.0.1:1", about: { folder: "x" }, close };
}, 100);
