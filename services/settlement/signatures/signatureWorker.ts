// A thread that reads signatures for SignatureReaders: takes a list of [canonical body, signature], gives back the readings.
import { parentPort } from "node:worker_threads";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { readSignatureHere } from "./readSignature.ts";

const read = readSignatureHere(await recoverByWasm());
parentPort?.on("message", (batch: [canonicalBody: string, signature: string][]) => {
  parentPort?.postMessage(batch.map(([canonicalBody, signature]) => read(canonicalBody, signature)));
});
parentPort?.postMessage("ready");
