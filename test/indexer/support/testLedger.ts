import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { anchoredLedgerAbi } from "../../../protocol/abi/anchoredLedgerAbi.ts";
import { type Hex, toHex } from "../../../protocol/hex.ts";
import type { PyJson } from "../../../protocol/json/pythonJson.ts";
import type { RecordBody } from "../../../protocol/json/recordBody.ts";
import { ledgerId } from "../../../protocol/ledger/anchor.ts";
import { entryLine, GENESIS_HASH, type LedgerEntry, sealEntry } from "../../../protocol/ledger/entry.ts";
import { entryLeafHash } from "../../../protocol/merkle/entryLeafHash.ts";
import { MerkleTree } from "../../../protocol/merkle/merkleTree.ts";
import { recordPayload, signRecord } from "../../../protocol/records/record.ts";
import { CHAIN_ID, type LocalChain, type Wallet } from "./localChain.ts";

/** A ledger in memory that a test appends to; what is published of it and what is anchored is up to the test. */
export class TestLedger {
  readonly entries: LedgerEntry[] = [];
  readonly tree = new MerkleTree();

  /** Appends an entry with any payload. */
  append(payload: { [key: string]: PyJson }): LedgerEntry {
    const entry = sealEntry({
      timestamp: 1_767_225_600.5 + this.entries.length,
      taskId: `task-${this.entries.length}`,
      parentHash: this.entries.at(-1)?.currentHash ?? GENESIS_HASH,
      payload,
    });
    this.entries.push(entry);
    this.tree.append(entryLeafHash(entry));
    return entry;
  }

  /** Appends a record that `by` signs. */
  async sign(by: Wallet, type: string, body: RecordBody): Promise<LedgerEntry> {
    return this.append(recordPayload(await signRecord({ type, body, privateKey: by.privateKey })));
  }

  get size(): number {
    return this.entries.length;
  }

  root(size = this.size): Hex {
    return toHex(this.tree.root(size));
  }

  lines(from = 0, to = this.size): string[] {
    return this.entries.slice(from, to).map(entryLine);
  }

  /** Writes `ledger.jsonl` of the first `size` entries into a folder. */
  async save(folder: string, size = this.size): Promise<void> {
    await mkdir(folder, { recursive: true });
    await writeFile(
      path.join(folder, "ledger.jsonl"),
      this.lines(0, size)
        .map((line) => `${line}\n`)
        .join(""),
    );
  }
}

/** A ledger opened on a chain by its writer, who anchors it. */
export async function openOnChain(chain: LocalChain, writer: Wallet, origin: string) {
  await chain.fuel(writer);
  await chain.send(chain.anchoredLedger, anchoredLedgerAbi, "open", [origin, writer.address]);
  const id = ledgerId({ chainId: CHAIN_ID, contract: chain.anchoredLedger, writer: writer.address, origin });
  let anchored = 0;
  return {
    id,
    anchor: async (ledger: TestLedger, size = ledger.size) => {
      const proof = ledger.tree.consistencyProof(anchored, size).map((hash) => toHex(hash));
      const args = [id, BigInt(size), ledger.root(size), proof, "0x"];
      const receipt = await chain.send(chain.anchoredLedger, anchoredLedgerAbi, "anchor", args, writer);
      anchored = size;
      return receipt;
    },
  };
}
