import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import { MAX_ENTRY_BYTES } from "../ledger/diskLedger.ts";

/**
 * The bytes of a tile (C2SP tlog-tiles). A tile of hashes has the 32-byte roots of `width` subtrees of 256^level leaves. A
 * bundle has `width` entries, each after its length in two bytes, big-endian. Undefined when the log is not that large.
 */
export async function readTile(
  ledger: DiskLedger,
  { level, index, width }: Tile,
): Promise<Uint8Array | undefined> {
  const from = index * TILE_WIDTH;
  if (level === "entries") {
    return from + width <= ledger.size ? readBundle(ledger, from, from + width) : undefined;
  }
  const height = 8 * level;
  if (from + width > Math.floor(ledger.size / 2 ** height)) return undefined;
  const bytes = new Uint8Array(32 * width);
  for (let at = 0; at < width; at++) bytes.set(ledger.tree.node(height, from + at), 32 * at);
  return bytes;
}

async function readBundle(ledger: DiskLedger, from: number, to: number): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of ledger.segment(from, to)) pieces.push(piece);
  const lines = Buffer.concat(pieces).toString("latin1").split("\n").slice(0, -1);
  return Buffer.concat(
    lines.flatMap((line, at) => {
      // An imported ledger may have longer entries, which this form cannot hold.
      if (line.length > MAX_ENTRY_BYTES)
        throw new LedgerLineError(from + at + 1, "it is too long for a bundle");
      const length = Buffer.alloc(2);
      length.writeUInt16BE(line.length);
      return [length, Buffer.from(line, "latin1")];
    }),
  );
}
