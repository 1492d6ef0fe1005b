import { LogReader } from "tallystick-derive/logReader";
import { signedText } from "tallystick-protocol/records/record";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { readSignatureHere } from "tallystick-runtime/signatures/readSignature";
import { readWholeLines } from "../../../scripts/eventLog/readWholeLines.ts";

// Recovers the signers of one part of a log's records, and derives nothing. Only the recovery is timed. Arguments: FILE
// PART PARTS.
const [file = "-", part, parts] = process.argv.slice(2);
const read = readSignatureHere(await recoverByWasm());
const reader = new LogReader();
const questions: [text: string, signature: string][] = [];
let n = 0;
for await (const text of readWholeLines(file)) {
  for (const line of text.split("\n")) {
    const event = reader.read(line);
    if (event?.kind !== "record" || n++ % Number(parts) !== Number(part)) continue;
    questions.push([signedText(event.body), event.signature]);
  }
}
const began = performance.now();
for (const [text, signature] of questions) read(text, signature);
process.stdout.write(
  JSON.stringify({ records: questions.length, seconds: (performance.now() - began) / 1_000 }),
);
