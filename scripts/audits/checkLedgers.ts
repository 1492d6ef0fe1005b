import { addressSchema } from "tallystick-protocol/address";
import { hash32Schema } from "tallystick-protocol/hash32Schema";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
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
export async function checkLedgers(url: string, log: DerivedLog, chain: AuditChain, found: Findings) {
  const ids = new Set([...Object.keys(log.params.ledgers), ...log.records.keys()]);
  for (const id of ids) await checkLedger(url, id as Hex, log, chain, found);
}

async function checkLedger(url: string, id: Hex, log: DerivedLog, chain: AuditChain, found: Findings) {
  const inLog = new Map(log.records.get(id));
  const answer = await askGraphql({ baseUrl: url, query: OPENED, variables: { id } });
  const what = `The node's answer about the ledger ${id}`;
  const opened = readServiceAnswer(openedForm, answer, { what });
  const [checkpoint] = opened.checkpoints.nodes;
  const { origin = null, firstWriter: writer = null, guardian = null } = opened.ledger ?? {};
  if (origin === null || writer === null || guardian === null || checkpoint === undefined) {
    if (inLog.size > 0)
      found.check(false, "", `The node has records of the ledger ${id}, and no anchor of it.`);
    return;
  }
  const contract = await chain.contractOf(id, checkpoint.tx);
  const isIts =
    contract !== null &&
    ledgerId({ chainId: await chain.chainId(), contract, writer, guardian, origin }) === id;
  if (contract === null || !isIts) {
    found.check(
      false,
      "",
      `The node says that transaction ${checkpoint.tx} anchors the ledger ${id}, but it does not.`,
    );
    return;
  }
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
      if (isRecord && inLog.get(seq) !== entry.currentHash) missing.push(seq);
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
  const extra = [...inLog.keys()].filter((seq) => !missing.includes(seq));
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
