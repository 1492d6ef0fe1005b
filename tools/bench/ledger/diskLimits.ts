import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { type LedgerEntry, parseEntryLine } from "tallystick-protocol/ledger/entry";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import { ledgerLines } from "../../../services/settlement/ledger/ledgerLines.ts";

/** Bytes of a line that is synced: about those of a receipt. */
const LINE_BYTES = 1_000;

/** How many lines a second the disk stores, each with its own fdatasync. */
export async function syncsPerSecond(folder: string, seconds = 2): Promise<number> {
  const file = await open(path.join(folder, "sync"), "a");
  const line = Buffer.alloc(LINE_BYTES, "x");
  try {
    const start = performance.now();
    let count = 0;
    for (; performance.now() - start < 1_000 * seconds; count++) {
      await file.appendFile(line);
      await file.datasync();
    }
    return count / ((performance.now() - start) / 1_000);
  } finally {
    await file.close();
  }
}

/**
 * How many entries of a ledger are added to its index and its tree in a second of processor time, without reading them.
 */
export async function insertsPerSecond(ledgerFile: string, most: number, folder: string): Promise<number> {
  const taken: { entry: LedgerEntry; leaf: Uint8Array; end: number }[] = [];
  for await (const lines of ledgerLines(ledgerFile)) {
    for (const { bytes, text, end } of lines)
      taken.push({ entry: parseEntryLine(text), leaf: leafHash(bytes, sha256ByNode), end });
    if (taken.length >= most) break;
  }
  mkdirSync(folder);
  const index = new LedgerIndex(folder);
  try {
    const store = index.openStore();
    const tree = new MerkleTree(sha256ByNode, { size: 0, level: (level) => store.hashes(level) });
    const ends = store.ends();
    const start = process.cpuUsage();
    for (const [at, { entry, leaf, end }] of taken.entries()) {
      tree.append(leaf);
      ends.push(end);
      index.add(entry, at, end);
    }
    index.commit();
    const { user, system } = process.cpuUsage(start);
    return taken.length / ((user + system) / 1e6);
  } finally {
    index.close();
  }
}
