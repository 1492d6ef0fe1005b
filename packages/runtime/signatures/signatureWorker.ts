// A thread that reads signatures for SignatureThreads. It gets a list of [text, signature] and answers with a
// SignatureReading for each.
import { parentPort } from "node:worker_threads";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { readSignatureHere } from "./readSignature.ts";
import type { Question } from "./signatureThreads.ts";

const read = readSignatureHere(await recoverByWasm());
parentPort?.on("message", (questions: Question[]) => {
  parentPort?.postMessage(questions.map(([text, signature]) => read(text, signature)));
});
parentPort?.postMessage("ready");
