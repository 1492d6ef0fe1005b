import { decode } from "fast-png";

/**
 * The most pixels of an image that is decoded: a little more than 1920 × 1080. A larger image would take too long (SHP
 * §8.1).
 */
export const MAX_PIXELS = 2_097_152;

/** The longest base64 text of an image, which is 10 MB. */
export const MAX_IMAGE_BASE64 = 13_981_016;

/** A decoded image. */
export type Picture = {
  width: number;
  height: number;
  /** The colour of a pixel as 0xRRGGBB. Transparent pixels are mixed with a light grey. */
  rgbAt: (x: number, y: number) => number;
};

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** The most chunks of a file. A file of 10 MB in the usual chunks of 8 kB has 1,300. */
const MAX_CHUNKS = 20_000;
/**
 * The chunks that the picture needs. Others are left out, because a colour profile, for example, may
 * decompress to any size.
 */
const NEEDED = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
/**
 * The background of transparent pixels. It is neither black nor white, so drawings in both colours are
 * visible.
 */
const GROUND = 188;

type Chunk = { type: string; start: number; end: number };
type Header = {
  width: number;
  height: number;
  bitsPerPixel: number;
  interlaced: boolean;
  isIndexed: boolean;
};

/**
 * Decodes a PNG (W3C PNG, third edition) from base64. It checks the signature, the order of chunks and the
 * checksums. The image must be complete and have exactly the size that the header names. Decompression stops as soon as
 * there is more data than that.
 *
 * @throws Error saying what is wrong with the image
 */
export async function decodePicture(base64: string): Promise<Picture> {
  const { bytes, chunks, header } = openPicture(base64);
  const lines = await inflate(bytes, chunks, scanLineBytes(header));
  return asPicture(decode(stored(bytes, chunks, lines)));
}

/**
 * The size of a PNG, without decoding it.
 *
 * @throws Error saying what is wrong with the image, also when it has more than {@link MAX_PIXELS}
 */
export function pictureSize(base64: string): { width: number; height: number } {
  const { width, height } = openPicture(base64).header;
  return { width, height };
}

function openPicture(base64: string): { bytes: Uint8Array; chunks: Chunk[]; header: Header } {
  const bytes = bytesOf(base64);
  const chunks = chunksOf(bytes);
  for (const chunk of chunks) {
    if (NEEDED.has(chunk.type)) checkSum(bytes, chunk);
  }
  const header = headerOf(bytes, chunks);
  checkOrder(chunks, header);
  if (header.width * header.height > MAX_PIXELS) throw new Error(`has more than ${MAX_PIXELS} pixels`);
  return { bytes, chunks, header };
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

/** CRC-32 of a chunk's type and data (PNG §5.5). */
function checkSum(bytes: Uint8Array, { type, start, end }: Chunk): void {
  let crc = 0xffffffff;
  for (let at = start + 4; at < end - 4; at++) {
    crc = (CRC_TABLE[(crc ^ (bytes[at] as number)) & 255] as number) ^ (crc >>> 8);
  }
  const said = new DataView(bytes.buffer).getUint32(end - 4);
  if ((crc ^ 0xffffffff) >>> 0 !== said) throw new Error(`is damaged: wrong checksum in ${type}`);
}

function bytesOf(base64: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(base64);
  } catch {
    throw new Error("is no base 64");
  }
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function chunksOf(bytes: Uint8Array): Chunk[] {
  if (!SIGNATURE.every((byte, at) => bytes[at] === byte)) throw new Error("is no PNG: wrong signature");
  const view = new DataView(bytes.buffer);
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE.length; at < bytes.length; ) {
    if (at + 12 > bytes.length) throw new Error("ends within a chunk");
    const end = at + 12 + view.getUint32(at);
    if (end > bytes.length) throw new Error("ends within a chunk");
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    chunks.push({ type, start: at, end });
    if (chunks.length > MAX_CHUNKS) throw new Error(`has more than ${MAX_CHUNKS} chunks`);
    if (type === "IEND") return chunks;
    at = end;
  }
  throw new Error("has no end: IEND is missing");
}

/**
 * Refuses an order of chunks that other decoders refuse (PNG §5.6), and chunks without which nobody else shows the
 * picture: their names begin with a capital letter (PNG §5.4).
 */
function checkOrder(chunks: readonly Chunk[], { isIndexed }: Header): void {
  const types = chunks.map(({ type }) => type);
  const unknown = types.find((type) => /^[A-Z]/.test(type) && !NEEDED.has(type));
  if (unknown !== undefined) throw new Error(`has the unknown part ${unknown}, which other programs refuse`);
  const [first, last, palette] = [types.indexOf("IDAT"), types.lastIndexOf("IDAT"), types.indexOf("PLTE")];
  if (types.slice(first, last).some((type) => type !== "IDAT"))
    throw new Error("has something between its image data");
  if ((isIndexed && palette < 0) || (first >= 0 && palette > first))
    throw new Error("has no palette before its image data");
}

const CHANNELS: { [colourType: number]: number } = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/**
 * The allowed bit depths of each colour type (PNG §11.2.1). Another depth could claim a picture of any size.
 */
const DEPTHS: { [colourType: number]: readonly number[] } = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

function headerOf(bytes: Uint8Array, chunks: Chunk[]): Header {
  const first = chunks[0];
  if (first?.type !== "IHDR" || first.end - first.start !== 25) throw new Error("does not begin with IHDR");
  const view = new DataView(bytes.buffer, first.start + 8, 13);
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  const channels = CHANNELS[view.getUint8(9)];
  if (width === 0 || height === 0) throw new Error("has no width or no height");
  if (channels === undefined) throw new Error("has an unknown colour type");
  const depth = view.getUint8(8);
  if (!DEPTHS[view.getUint8(9)]?.includes(depth)) throw new Error("has an impossible depth");
  const [isIndexed, interlaced] = [view.getUint8(9) === 3, view.getUint8(12) === 1];
  return { width, height, bitsPerPixel: depth * channels, interlaced, isIndexed };
}

/** The offsets and steps of the seven passes of Adam7 (PNG §8.1). */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** The number of bytes of all scan lines, with their filter bytes. */
function scanLineBytes({ width, height, bitsPerPixel, interlaced }: Header): number {
  const passes = interlaced ? ADAM7 : ([[0, 0, 1, 1]] as const);
  let total = 0;
  for (const [x, y, stepX, stepY] of passes) {
    const columns = Math.ceil((width - x) / stepX);
    const rows = Math.ceil((height - y) / stepY);
    if (columns > 0 && rows > 0) total += rows * (1 + Math.ceil((columns * bitsPerPixel) / 8));
  }
  return total;
}

/**
 * Decompresses with the platform's own function, and counts the output, so that neither incomplete data nor a
 * decompression bomb passes.
 */
async function inflate(bytes: Uint8Array, chunks: Chunk[], expected: number): Promise<Uint8Array> {
  const parts = chunks.filter(({ type }) => type === "IDAT");
  const data = new Uint8Array(parts.reduce((sum, { start, end }) => sum + end - start - 12, 0));
  let at = 0;
  for (const { start, end } of parts) {
    data.set(bytes.subarray(start + 8, end - 4), at);
    at += end - start - 12;
  }
  const lines = new Uint8Array(expected);
  let filled = 0;
  const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (filled + value.length > expected) throw new Error("has more image data than its header says");
      lines.set(value, filled);
      filled += value.length;
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    throw error instanceof TypeError ? new Error("has damaged image data") : error;
  }
  if (filled < expected) throw new Error("has less image data than its header says");
  return lines;
}

/**
 * The same picture with uncompressed lines for the decoder library, which would decompress without a limit.
 */
function stored(bytes: Uint8Array, chunks: Chunk[], lines: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [Uint8Array.from(SIGNATURE)];
  const keep = (type: string): void => {
    const same = chunks.filter((chunk) => chunk.type === type);
    if (same.length > 1) throw new Error(`has ${same.length} chunks of ${type}`);
    for (const { start, end } of same) pieces.push(bytes.subarray(start, end));
  };
  keep("IHDR");
  keep("PLTE");
  keep("tRNS");
  const data = storedStream(lines);
  const head = new Uint8Array(8);
  new DataView(head.buffer).setUint32(0, data.length);
  head.set([0x49, 0x44, 0x41, 0x54], 4);
  pieces.push(head, data, new Uint8Array(4));
  keep("IEND");
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A zlib stream (RFC 1950) of stored blocks (RFC 1951 §3.2.4). */
function storedStream(data: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(data.length / 0xffff));
  const stream = new Uint8Array(2 + 5 * blocks + data.length + 4);
  stream.set([0x78, 0x01]);
  let at = 2;
  for (let block = 0; block < blocks; block++) {
    const part = data.subarray(block * 0xffff, (block + 1) * 0xffff);
    const [low, high] = [part.length & 255, part.length >> 8];
    stream.set([block === blocks - 1 ? 1 : 0, low, high, low ^ 255, high ^ 255], at);
    stream.set(part, at + 5);
    at += 5 + part.length;
  }
  return stream;
}

function asPicture(png: ReturnType<typeof decode>): Picture {
  const { width, height, channels, depth, palette } = png;
  const data = png.data as ArrayLike<number>;
  if (palette) {
    const perRow = Math.ceil((width * depth) / 8);
    const indexAt = (x: number, y: number): number => {
      const bit = x * depth;
      const byte = data[y * perRow + (bit >> 3)] ?? 0;
      return (byte >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
    };
    const wide = depth < 8;
    const rgbAt = (x: number, y: number): number => {
      const [red = 0, green = 0, blue = 0, alpha = 255] =
        palette[wide ? indexAt(x, y) : (data[y * width + x] ?? 0)] ?? [];
      return blend(red, green, blue, alpha);
    };
    return { width, height, rgbAt };
  }
  if (depth < 8) return greyPicture(png);
  const shift = depth === 16 ? 8 : 0;
  const byteAt = (at: number): number => (data[at] ?? 0) >> shift;
  const rgbAt = (x: number, y: number): number => {
    const at = (y * width + x) * channels;
    const grey = byteAt(at);
    if (channels <= 2) return blend(grey, grey, grey, channels === 2 ? byteAt(at + 1) : 255);
    return blend(grey, byteAt(at + 1), byteAt(at + 2), channels === 4 ? byteAt(at + 3) : 255);
  };
  return { width, height, rgbAt };
}

/** One channel of 1, 2 or 4 bits. */
function greyPicture({ width, height, depth, data }: ReturnType<typeof decode>): Picture {
  const perRow = Math.ceil((width * depth) / 8);
  const max = (1 << depth) - 1;
  const rgbAt = (x: number, y: number): number => {
    const bit = x * depth;
    const value = ((data[y * perRow + (bit >> 3)] ?? 0) >> (8 - depth - (bit & 7))) & max;
    const grey = Math.round((value * 255) / max);
    return blend(grey, grey, grey, 255);
  };
  return { width, height, rgbAt };
}

function blend(red: number, green: number, blue: number, alpha: number): number {
  if (alpha === 255) return (red << 16) | (green << 8) | blue;
  const over = (value: number): number => Math.round((value * alpha + GROUND * (255 - alpha)) / 255);
  return (over(red) << 16) | (over(green) << 8) | over(blue);
}
