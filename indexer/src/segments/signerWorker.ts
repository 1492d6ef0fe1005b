// A thread that reads signatures for SignerThreads: takes a list of [text, signature], gives back the signers.
import { parentPort } from "node:worker_threads";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { signerOfText } from "tallystick-protocol/signatures/signedText";
import type { Question } from "./signerThreads.ts";

const recover = await recoverByWasm();
parentPort?.on("message", (questions: Question[]) => {
  parentPort?.postMessage(questions.map(([text, signature]) => signerOfText(text, signature, recover)));
});
