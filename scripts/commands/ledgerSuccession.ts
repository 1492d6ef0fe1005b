import { type Command, Option } from "commander";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { plainJson } from "tallystick-runtime/plainText";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  encodeFunctionData,
  type Hex,
  zeroAddress,
} from "viem";
import type { LedgerState } from "../../services/settlement/anchoring/readLedgerOnChain.ts";
import type { AnchoringConfig } from "../../services/settlement/config.ts";
import { accountOfKey } from "../../services/settlement/signingKeys/accountOfKey.ts";
import { readAddress } from "../cli/readAddress.ts";
import { askChain, ledgerConfig } from "./ledgerSettings.ts";

type Call =
  | { functionName: "announceWriter"; args: readonly [Hex, Address] }
  | { functionName: "acceptWriter"; args: readonly [Hex] };

/** The outcome of a call: it was sent, or another account must send it, for example a Safe. */
export type CalledLedger =
  | { ledger: Hex; from: Address; sent: true; transaction: Hex; block: number }
  | { ledger: Hex; from: Address; sent: false; to: Address; data: Hex; chain_id: number };

/**
 * `tallystick ledger announce-writer` and `accept-writer`: change the writer of a ledger
 * (docs/ledger/succession.md).
 */
export function registerSuccession(ledger: Command): void {
  ledger
    .command("announce-writer")
    .description(
      "Announce the next writer of the ledger. It may accept after 7 days. To withdraw an announcement, name " +
        "the present writer.\n" +
        "Sends the transaction if ANCHOR_PRIVATE_KEY is the announcing account's key. Otherwise it prints the " +
        "transaction, for example for a Safe.",
    )
    .argument("<address>", "the next writer: a wallet key's account, or a contract such as a Safe")
    .addOption(new Option("--by <who>", "who announces").choices(["writer", "guardian"]).default("writer"))
    .option("--json", "print one line of JSON")
    .action(async (address: string, { by, json = false }: { by: Announcer; json?: boolean }) => {
      const next = readAddress(address, "address");
      const { anchoring, id, state } = await openLedger();
      const from = by === "writer" ? state.writer : anchoring.guardian;
      if (from === zeroAddress) throw noGuardian();
      say(await call(anchoring, id, from, { functionName: "announceWriter", args: [id, next] }), json);
    });
  ledger
    .command("accept-writer")
    .description(
      "Become the ledger's writer, as announced at least 7 days ago. Use the settings of the new writer's " +
        "service.\n" +
        "Sends the transaction if ANCHOR_PRIVATE_KEY is the announced account's key. Otherwise it prints the " +
        "transaction, for example for a Safe.",
    )
    .option("--json", "print one line of JSON")
    .action(async ({ json = false }: { json?: boolean }) => {
      const { anchoring, id, state } = await openLedger();
      if (state.announced === null) {
        throw new TallystickError({
          code: "nothing_announced",
          message: `Nobody is announced as the next writer of ${id}.`,
          hint: "Its writer or its guardian announces one: tallystick ledger announce-writer ADDRESS",
        });
      }
      const from = state.announced.next;
      say(await call(anchoring, id, from, { functionName: "acceptWriter", args: [id] }), json);
    });
}

type Announcer = "writer" | "guardian";

async function openLedger(): Promise<{ anchoring: AnchoringConfig; id: Hex; state: LedgerState }> {
  const config = await ledgerConfig();
  const { ledger: state } = await askChain(config);
  const { anchoring, ledger: id } = config;
  if (state !== undefined && anchoring !== undefined && id !== "local") return { anchoring, id, state };
  throw new TallystickError({
    code: "not_open",
    message: `The contract has no ledger ${id}.`,
    hint: "The ledger's id is computed from LEDGER_FIRST_WRITER (or ANCHOR_WRITER, if the writer never changed), LEDGER_GUARDIAN and LEDGER_ORIGIN.",
  });
}

/** Simulates a call at the contract. Sends it if the settings have the key; otherwise returns what has to be sent. */
async function call(
  { contract, rpcUrl, chainId, key }: AnchoringConfig,
  id: Hex,
  from: Address,
  call: Call,
): Promise<CalledLedger> {
  const target = { address: contract, abi: anchoredLedgerAbi, ...call };
  const client = createPublicClient({ transport: rpcTransport(rpcUrl), cacheTime: 0 });
  await client.simulateContract({ ...target, account: from } as never).catch((cause) => {
    throw refused(cause);
  });
  const account = accountOfKey(key);
  if (account.address.toLowerCase() !== from) {
    const data = encodeFunctionData({ abi: anchoredLedgerAbi, ...call });
    return { ledger: id, from, sent: false, to: contract, data, chain_id: chainId };
  }
  const { sendAndWait } = createTransactionSender({ account, chainId, rpc: rpcUrl });
  const { transactionHash: transaction, blockNumber } = await sendAndWait(target);
  return { ledger: id, from, sent: true, transaction, block: Number(blockNumber) };
}

/** The error with the contract's own reason, if it gave one. */
function refused(cause: unknown): TallystickError {
  const reverted =
    cause instanceof BaseError ? cause.walk((error) => error instanceof ContractFunctionRevertedError) : null;
  if (!(reverted instanceof ContractFunctionRevertedError) || reverted.data === undefined) {
    const message = `The chain could not be asked: ${(cause as Error).message.split("\n")[0]}`;
    return new TallystickError({ code: "chain_unavailable", message, hint: "Check RPC_URL.", cause });
  }
  const { errorName, args = [] } = reverted.data;
  const [, readyAt] = args;
  return new TallystickError({
    code: "ledger_refuses",
    message: `The contract would refuse it: ${errorName}(${args.join(", ")}).`,
    hint:
      errorName === "TooEarly"
        ? `It may be accepted from ${new Date(Number(readyAt) * 1000).toISOString().slice(0, 19)}Z on.`
        : "docs/ledger/succession.md and docs/ledger/README.md say what each reason means.",
    cause,
  });
}

function say(done: CalledLedger, json: boolean): void {
  if (json) {
    process.stdout.write(`${plainJson(done)}\n`);
    return;
  }
  const text = done.sent
    ? `Sent by ${done.from} in transaction ${done.transaction}, block ${done.block}.`
    : `Not sent: the call has to come from ${done.from}. That account has to send it:\nchain ${done.chain_id}\nto    ${done.to}\ndata  ${done.data}`;
  process.stdout.write(`${text}\n`);
}

function noGuardian(): TallystickError {
  return new TallystickError({
    code: "no_guardian",
    message: "The settings name no guardian of the ledger.",
    hint: "LEDGER_GUARDIAN is part of the ledger's id and never changes. Without a guardian, only the writer can announce another writer.",
  });
}
