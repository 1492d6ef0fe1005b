import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { append, itemsOf, listLength } from "../lists.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { neededOverlap, overlapOf } from "./tokens.ts";

/**
 * Agents with the same tokens are one class, and classes near each other are linked once, when the later one appears. So the
 * agents alike to one are those of its class and of the classes linked to it, without comparing agents.
 */
export async function ensureClass(step: Step, tokens: string[]): Promise<Row<"fingerprint">> {
  const id = bytesToHex(sha256(utf8ToBytes(tokens.join("\n"))));
  const known = await step.store.get("fingerprint", id);
  if (known !== null) return known;

  const near = await findNear(step, tokens);
  let around = 0;
  for (const other of near) {
    await append(step.store, nearOf(id), other.id);
    await append(step.store, nearOf(other.id), id);
    around += other.members;
  }
  const created = { id, tokens: tokens.join("\n"), members: 0, around, core: false };
  await step.store.insert("fingerprint", created);
  for (const token of tokens) await append(step.store, posting(token, tokens.length), id);
  return created;
}

/** The classes linked to one. */
export async function* nearClasses(step: Step, id: string): AsyncGenerator<Row<"fingerprint">> {
  for await (const near of itemsOf(step.store, nearOf(id))) {
    const row = await step.store.get("fingerprint", near);
    if (row !== null) yield row;
  }
}

/**
 * Every class whose cosine with `tokens` is high enough. A set that shares at least `needed` of n tokens shares one of any
 * n − needed + 1 of them, so only the rarest that many are looked up, and no pair is missed.
 */
async function findNear(step: Step, tokens: string[]): Promise<Row<"fingerprint">[]> {
  const { fingerprintSimilarity: similarity } = step.params;
  const n = tokens.length;
  const found = new Map<string, Row<"fingerprint">>();
  // Sets so much smaller or larger that even containing each other would not do are out of range.
  for (const size of sizesInRange(n, similarity)) {
    const needed = neededOverlap(n, size, similarity);
    if (size === n && needed === n) continue;
    for (const token of await rarest(step, tokens, size, n - needed + 1)) {
      for await (const id of itemsOf(step.store, posting(token, size))) {
        if (found.has(id)) continue;
        const other = await step.store.get("fingerprint", id);
        if (other !== null && overlapOf(tokens, other.tokens.split("\n")) >= needed) found.set(id, other);
      }
    }
  }
  return [...found.values()];
}

function sizesInRange(n: number, similarity: { numerator: number; denominator: number }): number[] {
  const sizes: number[] = [];
  for (let size = n; size >= 1 && neededOverlap(n, size, similarity) <= size; size--) sizes.push(size);
  for (let size = n + 1; neededOverlap(n, size, similarity) <= n; size++) sizes.push(size);
  return sizes;
}

async function rarest(step: Step, tokens: string[], size: number, count: number): Promise<string[]> {
  const counted = await Promise.all(
    tokens.map(async (token) => ({ token, length: await listLength(step.store, posting(token, size)) })),
  );
  return counted
    .sort((a, b) => a.length - b.length)
    .slice(0, count)
    .map((it) => it.token);
}

function nearOf(id: string): string {
  return `near/${id}`;
}

/** The list of classes of one size that have a token. */
function posting(token: string, size: number): string {
  return `token/${size}/${token}`;
}
