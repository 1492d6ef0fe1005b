#!/usr/bin/env node
// The command tallystick-derive. It reads an event log and prints the state and the digest, in one thread.
// Only this file reads or writes anything. The derivation itself is pure.
import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import { addressSchema } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { type DerivedLog, type FoldLogOptions, foldLog, notesOf } from "./foldLog.ts";
import { snapshotOf } from "./snapshot.ts";
import { wholeLines } from "./wholeLines.ts";

const HELP = `usage: tallystick-derive FILE [options]

Computes agents, clusters and the digest from an event log with one JSON object on each line. FILE may be - for standard
input. Only the ticks in the log move time: without ticks nothing expires, and there is no digest.

  --json              print the whole state as JSON
  --digest            print only the digest
  --at-block NUMBER   stop after this block
  --token ADDRESS     the token whose transfers count, for a log whose first line does not name it
  --trust-signatures  accept every signature without a check; for synthetic logs
  -h, --help          print this
`;

type Command = { file: string; print: "summary" | "json" | "digest"; options: FoldLogOptions };

/** Exit code for a wrong call of the command. Most Unix tools use this code. */
const USAGE = 2;

/** @returns the parsed options; null when help is asked for */
function readCommand(args: string[]): Command | null {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      digest: { type: "boolean" },
      "at-block": { type: "string" },
      token: { type: "string" },
      "trust-signatures": { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return null;
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0)
    throw new TypeError("It takes one FILE, or - for standard input.");
  if (values.json && values.digest) throw new TypeError("--json and --digest exclude each other.");
  const options: FoldLogOptions = { trustSignatures: values["trust-signatures"] ?? false };
  const { "at-block": block, token } = values;
  if (block !== undefined) {
    if (!/^\d{1,15}$/.test(block)) throw new TypeError("--at-block must be a whole number.");
    options.atBlock = Number(block);
  }
  if (token !== undefined) {
    const address = addressSchema.safeParse(token);
    if (!address.success) throw new TypeError("--token must be 0x and 40 lower-case hex digits.");
    options.token = address.data;
  }
  return { file, print: values.json ? "json" : values.digest ? "digest" : "summary", options };
}

async function* read(file: string): AsyncGenerator<string> {
  // The file is opened when the first line is read. So if it cannot be opened, the reader gets the error, and the
  // process does not end by itself.
  const input = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 });
  input.setEncoding("utf8");
  yield* wholeLines(file, input as AsyncIterable<string>);
}

function describe({ store, events }: DerivedLog, print: Command["print"]): string {
  const { asOf, agents, clusters, digest } = snapshotOf(store);
  if (print === "json") return JSON.stringify({ asOf, agents, clusters, digest }, null, 2);
  if (print === "summary") {
    return [
      `events   ${events}`,
      `block    ${asOf.block}`,
      `time     ${asOf.time}`,
      `agents   ${Object.keys(agents).length}`,
      `clusters ${Object.keys(clusters).length}`,
      `digest   ${digest ?? "none: the log has no tick"}`,
    ].join("\n");
  }
  if (digest !== null) return digest;
  throw new TallystickError({
    code: "no_digest",
    message: "The log has no tick, so it has no digest.",
    hint: "A digest is the hash of the state at a tick. Logs that a node exports have ticks.",
  });
}

function describeError(error: unknown): string {
  if (!(error instanceof TallystickError)) return String(error instanceof Error ? error.stack : error);
  return [
    error.message,
    ...(error.hint === undefined ? [] : [`  hint: ${error.hint}`]),
    `  code: ${error.code}`,
  ].join("\n");
}

/** Lines that cannot control a terminal. An error may quote the log, which a stranger may have written. */
function printable(text: string): string {
  return text.replace(/[^\n\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @returns the exit code: 0 done, 1 the log cannot be derived, 2 called wrongly */
async function main(args: string[]): Promise<number> {
  let command: Command | null;
  try {
    command = readCommand(args);
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n\n${HELP}`);
    return USAGE;
  }
  if (command === null) {
    process.stdout.write(HELP);
    return 0;
  }
  const { file, print, options } = command;
  try {
    const derived = await foldLog(read(file), { ...options, recover: await recoverByWasm() });
    for (const note of notesOf(derived)) process.stderr.write(`${note}\n`);
    process.stdout.write(`${describe(derived, print)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`error: ${printable(describeError(error))}\n`);
    return 1;
  }
}

// `tallystick-derive … | head` closes our output early. That is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});
process.exitCode = await main(process.argv.slice(2));
