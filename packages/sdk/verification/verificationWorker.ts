// The program of a worker, in Node and in browsers. It first sends `"ready"`. Then it answers every job with
// `{verification}` or with `{error, code}`. An answer does not say to which job it belongs, so send one job at a time.
import { runVerification, type VerificationJob } from "./verificationJob.ts";

/** The side of the worker's connection that this program uses. */
type Port = {
  postMessage: (message: unknown) => void;
  onMessage: (listener: (job: VerificationJob) => void) => void;
};

function openPort(): Port {
  const parent = globalThis.process?.getBuiltinModule?.("node:worker_threads").parentPort;
  if (parent) {
    return {
      postMessage: (message) => parent.postMessage(message),
      onMessage: (listener) => parent.on("message", listener),
    };
  }
  const scope = globalThis as unknown as {
    postMessage: (message: unknown) => void;
    addEventListener: (type: "message", listener: (event: { data: VerificationJob }) => void) => void;
  };
  return {
    postMessage: (message) => scope.postMessage(message),
    onMessage: (listener) => scope.addEventListener("message", ({ data }) => listener(data)),
  };
}

const port = openPort();
port.onMessage((job) => {
  runVerification(job).then(
    (verification) => port.postMessage({ verification }),
    (error: unknown) => {
      const { code, message } = Object(error) as { code?: string; message?: string };
      port.postMessage({ error: String(message ?? error), code });
    },
  );
});
port.postMessage("ready");
