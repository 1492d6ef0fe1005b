import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { recordSigningHash } from "tallystick-protocol/records/record";
import { parseAbi, parseEventLogs, type TransactionReceipt } from "viem";
import type { LocalChain } from "./localChain.ts";

/**
 * The events as the specification has them. They are written here again, so that the node's own definitions are not
 * used.
 */
const abi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event Deposited(bytes32 indexed escrowId, address indexed buyer, address indexed seller, bytes32 hireId, address payee, uint128 amount, uint128 fee, address feeRecipient, uint64 deadline, address arbiter)",
  "event Delivered(bytes32 indexed escrowId, bytes32 resultHash)",
  "event Released(bytes32 indexed escrowId, address indexed buyer, address indexed seller, uint128 toSeller, uint128 toBuyer, uint128 fee)",
  "event Refunded(bytes32 indexed escrowId, address indexed buyer, address indexed seller, uint128 amount, address by)",
  "event TimedOut(bytes32 indexed escrowId, address indexed buyer, address indexed seller, uint128 amount, bool delivered)",
  "event Anchored(bytes32 indexed ledgerId, uint64 indexed seq, uint64 oldSize, uint64 newSize, bytes32 root)",
  "event Equivocated(bytes32 indexed ledgerId, uint64 size, bytes32 root, bytes32 ownRoot)",
]);

const walletAbi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);

/**
 * An entry of a followed ledger as the test wrote it. An entry that is a record has `record`. Any other entry has
 * `shown`: its line in the log, or null if the log does not show it.
 */
export type WrittenEntry = { hash: string } & (
  | { record: { type: string; body: RecordBody; signer: Hex; signature: Hex } }
  | { shown: object | null }
);

type Line = { [key: string]: unknown };

/**
 * The expected event log of a node, made from an RPC's answers for every block: logs in order, and each block's tick
 * last. It shares no code with the node's handlers.
 *
 * @param followed the entries of every followed ledger, by its id
 */
export async function expectedLog(
  { client, token, escrow, anchoredLedger }: LocalChain,
  {
    followed,
    provider,
    tickBlocks,
  }: { followed: Map<Hex, WrittenEntry[]>; provider: string; tickBlocks: number },
): Promise<Line[]> {
  const lines: Line[] = [];
  const ended = new Set<Hex>();
  const small = (hex: string) => hex.toLowerCase();
  for (let number = 0n; number <= (await client.getBlockNumber()); number++) {
    const block = await client.getBlock({ blockNumber: number });
    const time = Number(block.timestamp);
    const receipts: TransactionReceipt[] = await Promise.all(
      block.transactions.map((hash) => client.getTransactionReceipt({ hash })),
    );
    const logs = receipts.flatMap((receipt) => receipt.logs).sort((a, b) => a.logIndex - b.logIndex);
    for (const [at, log] of logs.entries()) {
      const from = small(log.address);
      const [event] = parseEventLogs({ abi, logs: [log] });
      if (event === undefined) continue;
      const place = { block: Number(number), time, log: log.logIndex };
      const tx = log.transactionHash;
      if (from === token && event.eventName === "Transfer") {
        const { args } = event;
        const [before] = parseEventLogs({ abi, logs: logs.slice(Math.max(0, at - 1), at) });
        const authorized =
          before?.eventName === "AuthorizationUsed" &&
          small(before.address) === token &&
          before.transactionHash === tx &&
          before.args.authorizer === args.from;
        const sides = { from: small(args.from), to: small(args.to), value: String(args.value) };
        lines.push({ ...place, kind: "transfer", token, ...sides, tx, authorized });
      } else if (from === escrow) {
        const line = escrowLine(event);
        if (line?.kind === "escrow.deposited") lines.push({ ...place, ...line, provider, escrow, tx });
        else if (line !== null) lines.push({ ...place, ...line });
      } else if (from === anchoredLedger && event.eventName === "Equivocated") {
        ended.add(event.args.ledgerId);
      } else if (from === anchoredLedger && event.eventName === "Anchored") {
        const { ledgerId: ledger, oldSize, newSize } = event.args;
        const entries = followed.get(ledger);
        if (entries === undefined || ended.has(ledger)) continue;
        for (let seq = Number(oldSize); seq < Number(newSize); seq++) {
          const entry = entries[seq] as WrittenEntry;
          const position = { ...place, kind: "record", ledger, seq, hash: entry.hash };
          if ("shown" in entry) {
            if (entry.shown !== null) lines.push({ ...position, ...entry.shown });
            continue;
          }
          const verdict = await walletsWord(client, entry.record, number);
          lines.push({ ...position, ...entry.record, ...(verdict !== null && { erc1271: verdict }) });
        }
      }
    }
    if (Number(number) % tickBlocks === 0)
      lines.push({ block: Number(number), time, kind: "tick", hash: block.hash });
  }
  return lines;
}

type ChainEvent = ReturnType<typeof parseEventLogs<typeof abi>>[number];

function escrowLine(event: ChainEvent): Line | null {
  switch (event.eventName) {
    case "Deposited": {
      const { buyer, seller, payee, feeRecipient, arbiter, amount, fee, deadline, ...ids } = event.args;
      const parties = Object.entries({ buyer, seller, payee, feeRecipient, arbiter });
      return {
        kind: "escrow.deposited",
        ...ids,
        ...Object.fromEntries(parties.map(([name, address]) => [name, address.toLowerCase()])),
        amount: String(amount),
        fee: String(fee),
        deadline: Number(deadline > 2n ** 53n - 1n ? 2n ** 53n - 1n : deadline),
      };
    }
    case "Delivered":
      return { kind: "escrow.delivered", ...event.args };
    case "Released": {
      const { escrowId, toSeller, toBuyer, fee } = event.args;
      const amounts = { toSeller: String(toSeller), toBuyer: String(toBuyer), fee: String(fee) };
      return { kind: "escrow.released", escrowId, ...amounts };
    }
    case "Refunded":
      return { kind: "escrow.refunded", escrowId: event.args.escrowId, by: event.args.by.toLowerCase() };
    case "TimedOut": {
      const { escrowId, delivered } = event.args;
      return { kind: "escrow.timedOut", escrowId, delivered };
    }
    default:
      return null;
  }
}

/** A contract's answer about a signature, by a plain call; null if the signer is not a contract. */
async function walletsWord(
  client: LocalChain["client"],
  { signer, body, signature }: { signer: Hex; body: RecordBody; signature: Hex },
  blockNumber: bigint,
): Promise<boolean | null> {
  const code = await client.getCode({ address: signer, blockNumber });
  if (code === undefined || code === "0x") return null;
  const args = [recordSigningHash(body), signature] as const;
  const call = {
    address: signer,
    abi: walletAbi,
    functionName: "isValidSignature",
    args,
    blockNumber,
  } as const;
  const answer = await client
    .readContract({ ...call, gas: 3_000_000n } as typeof call)
    .catch(() => "nothing");
  return answer === "0x1626ba7e";
}
