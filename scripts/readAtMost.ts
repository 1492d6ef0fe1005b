import type { FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 1 << 16;

/**
 * Reads an open file to its end. A pipe or a device has no size and may never end, so the bytes are counted
 * as they come.
 *
 * @returns undefined when there are more than `most` bytes
 */
export async function readAtMost(handle: FileHandle, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  for (let length = 0; length <= most; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(chunks, length);
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return undefined;
}
