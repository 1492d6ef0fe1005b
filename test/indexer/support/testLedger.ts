import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { type Hex, toHex } from "tallystick-protocol/hex";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { entryLine, GENESIS_HASH, type LedgerEntry, sealEntry } from "tallystick-protocol/ledger/entry";
import { entryLeafHash, lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { recordPayload, signBody } from "tallystick-protocol/records/record";
import { zeroAddress } from "viem";
import { CHAIN_ID, type LocalChain, type Wallet } from "./localChain.ts";

/** Entries never change, so each line is made only once. */
const lines = new WeakMap<LedgerEntry, string>();

function lineOf(entry: LedgerEntry): string {
  const line = lines.get(entry) ?? entryLine(entry);
  lines.set(entry, line);
  return line;
}

/** A ledger in memory. The test appends entries, and decides what is published and what is anchored. */
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

  /** Appends a record with a body that `by` signs as it is. `bindBody` adds the fields that most types must have. */
  async sign(by: Wallet, type: string, body: RecordBody): Promise<LedgerEntry> {
    const signature = await signBody(body, { privateKey: by.privateKey });
    const signer = by.address.toLowerCase() as Hex;
    return this.append(recordPayload({ type, body, signer, signature }));
  }

  /** Another ledger with the same entries. */
  copy(): TestLedger {
    const copy = new TestLedger();
    for (const entry of this.entries) {
      copy.entries.push(entry);
      copy.tree.append(lineLeafHash(lineOf(entry)));
    }
    return copy;
  }

  get size(): number {
    return this.entries.length;
  }

  root(size = this.size): Hex {
    return toHex(this.tree.root(size));
  }

  lines(from = 0, to = this.size): string[] {
    return this.entries.slice(from, to).map(lineOf);
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

/** Opens a ledger on a chain. Its writer anchors any given head, continuing from the contract's head. */
export async function openOnChain(chain: LocalChain, writer: Wallet, origin: string) {
  await chain.fuel(writer);
  const { anchoredLedger: address } = chain;
  await chain.send(address, anchoredLedgerAbi, "open", [origin, writer.address, zeroAddress]);
  const id = ledgerId({
    chainId: CHAIN_ID,
    contract: address,
    writer: writer.address,
    guardian: zeroAddress,
    origin,
  });
  return {
    id,
    anchor: async (ledger: TestLedger, size = ledger.size) => {
      const call = { address, abi: anchoredLedgerAbi, functionName: "head", args: [id] } as const;
      const head = await chain.client.readContract(call);
      const proof = ledger.tree.consistencyProof(Number(head.size), size).map((hash) => toHex(hash));
      const args = [id, BigInt(size), ledger.root(size), proof, "0x"];
      return chain.send(address, anchoredLedgerAbi, "anchor", args, writer);
    },
  };
}

/** Serves a ledger as settlement does: `GET /v1/ledger/entries?from=&to=`. */
export async function serveLedger(ledger: TestLedger) {
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? "", "http://ledger").searchParams;
    const lines = ledger.lines(Number(query.get("from")), Number(query.get("to")));
    response.end(lines.map((line) => `${line}\n`).join(""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
