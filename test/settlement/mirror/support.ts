import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { parseTilePath } from "tallystick-protocol/merkle/tilePath";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { formatSignedNote, noteVerifierKey, signNote } from "tallystick-protocol/note/signedNote";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { readTile } from "../../../services/settlement/proofs/tiles.ts";

export const ORIGIN = "tallystick.test/mirrored";
const SEED = new Uint8Array(32).fill(3);
export const key = noteVerifierKey(ORIGIN, ed25519.getPublicKey(SEED));

/** A ledger in a folder below `folder`, with entries that depend only on their position and on `text`. */
export async function openLedger(folder: string, size = 0, text = ""): Promise<DiskLedger> {
  const ledger = await DiskLedger.open({ folder: path.join(folder, `ledger-${ledgers++}`) });
  await grow(ledger, size, text);
  return ledger;
}
let ledgers = 0;

export async function grow(ledger: DiskLedger, size: number, text = ""): Promise<void> {
  const appended = [];
  for (let n = ledger.size; n < size; n++)
    appended.push(
      ledger.append({ timestamp: 1_767_225_600 + n, taskId: `task-${n}`, payload: { n: BigInt(n), text } }),
    );
  await Promise.all(appended.map(({ durable }) => durable));
}

/** The signed checkpoint of a ledger's first entries, with a signature in the name of each witness. */
export function noteOf(
  ledger: DiskLedger,
  size = ledger.size,
  { root = ledger.tree.root(size), origin = ORIGIN, seed = SEED, witnesses = [] as string[] } = {},
): string {
  const text = formatCheckpoint({ origin, size, root });
  const signers = [origin, ...witnesses];
  return formatSignedNote({ text, signatures: signers.map((name) => signNote(text, name, seed)) });
}

export type Answer = (request: IncomingMessage, response: ServerResponse, name: string) => unknown;

/** Starts a server that gives the answers of a test. */
export async function serveAs(answer: {
  now: Answer;
}): Promise<{ url: string; asked: string[]; server: Server }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const name = (request.url ?? "").slice(1);
    asked.push(name);
    void (async () => answer.now(request, response, name))().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server };
}

/** Answers as the log of a ledger, up to `size` entries. */
export function logOf(ledger: DiskLedger, { size = ledger.size, note = noteOf(ledger, size) } = {}): Answer {
  return async (_request, response, name) => {
    if (name === "checkpoint") return response.end(note);
    const tile = parseTilePath(name.slice("tile/".length));
    const bytes = tile && (await readTile(ledger, tile));
    if (bytes === undefined) return response.writeHead(404).end();
    return response.end(bytes);
  };
}
