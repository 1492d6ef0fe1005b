import { type Address, addressSchema } from "tallystick-protocol/address";
import { hash32Schema } from "tallystick-protocol/hash32Schema";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { isReleaseChain, releasedLedgerAddress } from "tallystick-protocol/ledger/releasedLedger";
import { LedgerChain } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { listForm } from "tallystick-sdk/listForm";
import { askNode } from "tallystick-sdk/openLog/askNode";
import { askGraphql } from "tallystick-sdk/query/askGraphql";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { z } from "zod";
import { recordEvent } from "../../indexer/src/segments/recordEvent.ts";
import type { AuditChain } from "./auditChain.ts";
import type { DerivedLog } from "./derivedLog.ts";
import type { Findings } from "./findings.ts";

/** The fields of a ledger are null if the node did not see that it was opened. */
const openedForm = z.object({
  ledger: z
    .object({
      origin: z.string().nullable(),
      firstWriter: addressSchema.nullable(),
      guardian: addressSchema.nullable(),
    })
    .nullable(),
  checkpoints: z.object({ nodes: listForm(z.object({ tx: hash32Schema }), 1) }),
});

const OPENED = `query ($id: ID!) { ledger(id: $id) { origin firstWriter guardian }
  checkpoints(first: 1, ledger: $id) { nodes { tx } } }`;

/**
 * Checks that the log has exactly the records of the ledgers in its parameters. The entries come from the
 * node, which may lie, so they must give the root that the contract holds.
 */
export async function checkLedgers(
  url: string,
  log: Pick<DerivedLog, "params" | "records" | "lastBlock">,
  chain: LedgersChain,
  found: Findings,
) {
  const ids = new Set([...Object.keys(log.params.ledgers), ...log.records.keys()] as Hex[]);
  const contracts = new Set<Address>();
  const denied: Hex[] = [];
  for (const id of ids) {
    const place = await placeOf(url, id, log, chain, found);
    if (place === "denied") denied.push(id);
    if (place === "denied" || place === null) continue;
    contracts.add(place);
    await checkLedger(url, id, { log, contract: place, chain }, found);
  }
  if (denied.length > 0) await checkDenied(denied, contracts, log, chain, found);
}

/** What these checks need of the chain. */
export type LedgersChain = Pick<AuditChain, "chainId" | "anchoredBy" | "contractFault" | "headOf">;
type Log = Pick<DerivedLog, "records" | "lastBlock">;

/**
 * The contract of a ledger, as its id shows it. "denied" if the node says that nothing of it is anchored; null if
 * something is wrong with what the node says.
 */
async function placeOf(
  url: string,
  id: Hex,
  log: Log,
  chain: LedgersChain,
  found: Findings,
): Promise<Address | "denied" | null> {
  const wrong = (what: string): null => {
    found.check(false, "", what);
    return null;
  };
  const answer = await askGraphql({ baseUrl: url, query: OPENED, variables: { id } });
  const what = `The node's answer about the ledger ${id}`;
  const opened = readServiceAnswer(openedForm, answer, { what });
  const [checkpoint] = opened.checkpoints.nodes;
  const { origin = null, firstWriter: writer = null, guardian = null } = opened.ledger ?? {};
  if (origin === null || writer === null || guardian === null || checkpoint === undefined) {
    if ((log.records.get(id)?.size ?? 0) === 0) return "denied";
    return wrong(`The node has records of the ledger ${id}, and no anchor of it.`);
  }
  const chainId = await chain.chainId();
  const contract = (await chain.anchoredBy(id, checkpoint.tx)).find(
    (it) => ledgerId({ chainId, contract: it, writer, guardian, origin }) === id,
  );
  if (contract === undefined)
    return wrong(
      `The node says that transaction ${checkpoint.tx} anchors the ledger ${id}, but it does not.`,
    );
  const fault = await chain.contractFault(contract, log.lastBlock);
  return fault === null ? contract : wrong(`The ledger ${id} is in no released contract. ${fault}`);
}

/**
 * Asks the chain for ledgers of which the node has no anchor. On Base and Base Sepolia a ledger can only be in the
 * released contract. On another chain it may be in a contract that nobody named, so finding no anchor proves nothing.
 */
async function checkDenied(
  ids: Hex[],
  known: Iterable<Address>,
  { lastBlock }: Log,
  chain: LedgersChain,
  found: Findings,
): Promise<void> {
  const released = releasedLedgerAddress();
  const contracts: Address[] = [];
  for (const contract of new Set([released, ...known]))
    if ((await chain.contractFault(contract, lastBlock)) === null) contracts.push(contract);
  const isKnown = isReleaseChain(await chain.chainId()) && contracts.includes(released);
  for (const id of ids) {
    const heads = await Promise.all(
      contracts.map(async (contract) => ({ contract, ...(await chain.headOf(contract, id, lastBlock)) })),
    );
    const head = heads.find(({ size }) => size > 0);
    if (head !== undefined || isKnown)
      found.check(
        head === undefined,
        `Nothing of the ledger ${id} is anchored, as the node says.`,
        `The node says that nothing of the ledger ${id} is anchored; the contract ${head?.contract} has ${head?.size} entries of it.`,
      );
    else
      found.unchecked.push(
        `The node says that nothing of the ledger ${id} is anchored. Its contract is not known, so the chain was not asked.`,
      );
  }
}

async function checkLedger(
  url: string,
  id: Hex,
  { log, contract, chain }: { log: Log; contract: Address; chain: LedgersChain },
  found: Findings,
): Promise<void> {
  const inLog = new Map(log.records.get(id));
  const head = await chain.headOf(contract, id, log.lastBlock);
  const missing: number[] = [];
  const frontier = new MerkleFrontier(sha256ByNode);
  const entries = new LedgerChain({ sha256: sha256ByNode });
  while (frontier.size < head.size) {
    const path = `/v1/ledger/entries?ledger=${id}&from=${frontier.size}&to=${head.size}`;
    const lines = (await askNode(url, path)).text.split("\n").filter((line) => line !== "");
    if (lines.length === 0) break;
    for (const line of lines) {
      const { entry, leafHash } = entries.nextEntry(line);
      const seq = frontier.size;
      frontier.append(leafHash);
      const isRecord = recordEvent(entry, { block: 0, time: 0, log: 0, ledger: id, seq }) !== null;
      // What stays in `inLog` is not in the ledger. Generic work is no record, so it stays too.
      if (!isRecord) continue;
      if (inLog.get(seq) !== entry.currentHash) missing.push(seq);
      else inLog.delete(seq);
    }
  }
  const root = toHex(frontier.root());
  const isAnchored = found.check(
    root === head.root && frontier.size === head.size,
    `The ${head.size} entries of the ledger ${id} give the root that is anchored, ${root}.`,
    `The entries that the node gives of the ledger ${id} have the root ${root}; the anchored root is ${head.root}.`,
  );
  if (!isAnchored) return;
  const named = (seqs: number[]) => `${seqs.slice(0, 10).join(", ")}${seqs.length > 10 ? " …" : ""}`;
  const left = new Set(missing);
  const extra = [...inLog.keys()].filter((seq) => !left.has(seq));
  if (missing.length > 0)
    found.check(
      false,
      "",
      `The log leaves out, or changes, the records ${named(missing)} of the ledger ${id}.`,
    );
  if (extra.length > 0)
    found.check(
      false,
      "",
      `The log has records ${named(extra)} of the ledger ${id} that the ledger does not have.`,
    );
}
