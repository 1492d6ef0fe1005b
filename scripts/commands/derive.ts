import type { Command } from "commander";
import type { DeriveEvent } from "tallystick-derive/events";
import { type DerivedLog, notesOf } from "tallystick-derive/foldLog";
import { snapshotOf } from "tallystick-derive/snapshot";
import { httpSetting } from "tallystick-runtime/configuration/settings";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import { plainJson } from "tallystick-runtime/plainText";
import { deriveNode } from "tallystick-sdk/openLog/deriveNode";
import { MAX_LINES } from "tallystick-sdk/openLog/nodeLog";
import { missingOf } from "../../indexer/logPort/completeness/checkCompleteness.ts";
import { addDeriveOptions, type DeriveOptions } from "../cli/deriveOptions.ts";
import { NOT_CHECKED } from "../cli/exitCodes.ts";
import { parseOption, wholeNumber } from "../cli/parseOption.ts";
import { deriveLog } from "../eventLog/deriveLog.ts";
import { readWholeLines } from "../eventLog/readWholeLines.ts";
import { withSignatureThreads } from "../eventLog/withSignatureThreads.ts";
import { ContractWords } from "../openLog/contractWords.ts";
import { KeptLog } from "../openLog/keptLog.ts";
import { TransferCheck } from "../openLog/transferCheck.ts";

type Options = DeriveOptions & {
  from?: string;
  keep?: string;
  check?: boolean;
  maxLines: number;
  rpc?: string;
};

/**
 * The time for all requests to a chain's node. The history of a thousand wallets of Base takes thousands of
 * requests.
 */
const CHAIN_MS = 6 * 3_600_000;

/** `tallystick derive FILE`: the whole derivation, offline; `--from URL`: of the log that a node gives. */
export function registerDerive(program: Command): void {
  const command = program
    .command("derive")
    .description("Compute agents, clusters and the digest from an event log, and print them as JSON.")
    .argument("[file]", "an event log as `tallystick export` writes it, or - for standard input")
    .option(
      "--from <url>",
      "read the log of the node at this address instead of a file",
      parseOption("--from", httpSetting),
    )
    .option("--keep <file>", "with --from: store the log here, and continue from what is stored")
    .option("--check", "with --from: compare the digest at every tick with the node's; exit 1 if any differs")
    .option(
      "--max-lines <count>",
      "with --from: the most lines that are read",
      wholeNumber("--max-lines"),
      MAX_LINES,
    )
    .option(
      "--rpc <url>",
      "compare the log with the chain, which this RPC node serves: the transfers of each wallet must add up to its balance at the " +
        "log's last tick; exit 1 if they do not, and 2 if most wallets have too many transfers to be compared",
      parseOption("--rpc", httpSetting),
    )
    .addHelpText(
      "after",
      "\nTime moves only at the log's ticks. In a log without ticks nothing expires, and" +
        "\nthere is no digest." +
        "\nA node gives only final lines, so its log ends some blocks behind the node.",
    );
  addDeriveOptions(command).action(async (file: string | undefined, options: Options) => {
    const { from, keep, check } = options;
    if ((file === undefined) === (from === undefined))
      command.error("error: Give either a file or --from.", { exitCode: 2 });
    if (from === undefined && (keep !== undefined || check))
      command.error("error: --keep and --check need --from.", { exitCode: 2 });
    const transfers = new TransferCheck();
    const words = new ContractWords();
    const note = (event: DeriveEvent) => {
      transfers.note(event);
      if (!options.trustSignatures) words.note(event);
    };
    const onEvent = options.rpc === undefined ? undefined : note;
    const fold = { ...options, ...(onEvent && { onEvent }) };
    const derived =
      from === undefined
        ? await deriveLog(readWholeLines(file as string), fold)
        : await deriveFrom(from, fold);
    const { rpc } = options;
    const isCompared = rpc !== undefined && !options.trustSignatures && derived.contractSigned > 0;
    if (rpc !== undefined) await compareWithChain(transfers, derived, rpc);
    if (isCompared) await compareWords(words, transfers, rpc);
    const believed = isCompared ? { ...derived, contractSigned: 0 } : derived;
    for (const note of notesOf(believed)) process.stderr.write(`${note}\n`);
    process.stdout.write(`${plainJson(snapshotOf(derived.store), 2)}\n`);
  });
}

/** Prints on stderr what was compared, and the wallets whose transfers do not add up. */
async function compareWithChain(
  transfers: TransferCheck,
  { store }: DerivedLog,
  rpcUrl: string,
): Promise<void> {
  const { signal } = new AbortController();
  const { at, checked, hubs, gaps } = await transfers.compare(store, {
    rpcUrl,
    signal,
    deadlineMs: CHAIN_MS,
  });
  const { hubTransfers } = transfers.paramsOf(store);
  const left =
    hubs.length === 0
      ? ""
      : `; ${hubs.length} with more than ${hubTransfers} transfers (hubTransfers, which the log sets) were left out`;
  process.stderr.write(
    `checked: ${checked.length - gaps.length} of ${checked.length} wallets have the balance of ${transfers.token} that their transfers give, at block ${at.block}${left}\n`,
  );
  for (const gap of gaps) {
    process.stderr.write(
      `differs: the transfers of ${gap.wallet} lack ${missingOf(gap)}, according to its balance\n`,
    );
  }
  // Whoever made the log chose who is left out.
  const isUnchecked = checked.length === 0 || hubs.length > checked.length;
  if (isUnchecked)
    process.stderr.write(
      `not checked: ${checked.length === 0 ? "no wallet was" : "most wallets were not"} compared with the chain\n`,
    );
  if (gaps.length > 0) process.exitCode = 1;
  else if (isUnchecked) process.exitCode = NOT_CHECKED;
}

/** Prints on stderr what the chain says of the records that contracts signed according to the log. */
async function compareWords(words: ContractWords, { token }: TransferCheck, rpcUrl: string): Promise<void> {
  const { confirmed, wrong, unknown } = await words.compare(rpcUrl, { witness: token });
  const asked = confirmed + wrong.length;
  process.stderr.write(
    `checked: of ${asked} records that contracts signed according to the log, the chain confirms ${confirmed}\n`,
  );
  for (const what of wrong) process.stderr.write(`differs: ${what}\n`);
  if (unknown > 0)
    process.stderr.write(`not checked: ${unknown} more such records; the chain's node did not answer\n`);
  if (wrong.length > 0) process.exitCode = 1;
  else if (unknown > 0 && !process.exitCode) process.exitCode = NOT_CHECKED;
}

async function deriveFrom(url: string, { keep, maxLines, ...options }: Options): Promise<DerivedLog> {
  const kept = keep === undefined ? undefined : await KeptLog.open(keep);
  try {
    const derived = await withSignatureThreads(
      async (signers) =>
        await deriveNode(url, {
          ...options,
          ...signers,
          keep: kept,
          most: maxLines,
          sha256Hex: sha256HexByNode,
        }),
    );
    const { lines, agreed, store } = derived;
    process.stderr.write(`read ${lines.fetched} lines from ${url}, ${lines.kept} were kept\n`);
    if (agreed !== null) {
      const { block } = snapshotOf(store).asOf;
      process.stderr.write(
        `checked: the digests of ${agreed} ticks are those of ${url}, up to block ${block}\n`,
      );
    }
    return derived;
  } finally {
    await kept?.close();
  }
}
