import { Hono } from "hono";
import { InvalidInputError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import { formatVerifierKeys } from "tallystick-protocol/note/verifierKeys";
import { positionOf } from "tallystick-runtime/http/positionOf";
import type { AppDependencies } from "../appDependencies.ts";
import { makeProofBundle, makeTlogProof } from "../proofs/proofBundles.ts";

/**
 * Proofs about the ledger (RFC 9162 §2.1). Every answer costs O(log² n) hashes, however large the ledger. Hashes are `0x…`.
 *
 * - `GET /v1/ledger/checkpoint?size=`: a C2SP signed note: the kept note of this size, or the newest if no size is
 *   given. A clock makes the notes, at most one in 0.9 seconds. If the contract has the size and root of a note, the
 *   note also has the writer's EIP-712 `Head`. `?witnessed=true`: the newest note that the quorum of witnesses has
 *   cosigned (C2SP tlog-cosignature).
 * - `GET /v1/ledger/key`: the `vkey` that checks the notes (C2SP signed-note). While one key replaces another, there
 *   are two lines, each with its time at the end (`until=`, `from=`). Both keys sign then, and either is enough.
 * - `GET /v1/ledger/proof?index=&size=`: `{index, size, leaf_hash, root, proof}`; instead of `index`, `hash=` finds an
 *   entry.
 * - `GET /v1/ledger/consistency?from=&to=`: `{from, to, from_root, to_root, proof}`.
 * - `GET /v1/ledger/bundle?index=` (or `hash=`): the `.proof` file of an entry, for `tallystick verify-proof`.
 * - `GET /v1/ledger/tlog-proof?index=` (or `hash=`): the same in C2SP's form (tlog-proof), with the witnesses' cosignatures.
 */
export function proofRoutes(dependencies: AppDependencies): Hono {
  const { ledger, index, checkpoints, identity, transactionOf } = dependencies;
  const app = new Hono();

  app.get("/v1/ledger/checkpoint", (c) => {
    const size = positionOf(c.req.query("size"), "size");
    if (isWitnessed(c.req.query("witnessed"), size)) return text(checkpoints.latestWitnessed().note);
    return text((size === undefined ? checkpoints.latest() : checkpoints.at(size)).note);
  });

  app.get("/v1/ledger/key", () => text(formatVerifierKeys(checkpoints.verifierKeys)));

  app.get("/v1/ledger/proof", async (c) => {
    const at = await indexOf(c.req.query("index"), c.req.query("hash"));
    const size = positionOf(c.req.query("size"), "size") ?? ledger.size;
    const proof = ledger.tree.inclusionProof(at, size).map(toHex);
    const leaf = toHex(ledger.tree.leaf(at));
    return c.json({ index: at, size, leaf_hash: leaf, root: toHex(ledger.tree.root(size)), proof });
  });

  app.get("/v1/ledger/consistency", (c) => {
    const from = positionOf(c.req.query("from"), "from") ?? 0;
    const to = positionOf(c.req.query("to"), "to") ?? ledger.size;
    const { tree } = ledger;
    const proof = tree.consistencyProof(from, to).map(toHex);
    return c.json({ from, to, from_root: toHex(tree.root(from)), to_root: toHex(tree.root(to)), proof });
  });

  app.get("/v1/ledger/bundle", async (c) => {
    const at = await indexOf(c.req.query("index"), c.req.query("hash"));
    const bundle = await makeProofBundle(at, { ledger, checkpoints, identity, transactionOf });
    return c.json(bundle, 200, { "content-disposition": `attachment; filename="entry-${at}.proof"` });
  });

  app.get("/v1/ledger/tlog-proof", async (c) => {
    const at = await indexOf(c.req.query("index"), c.req.query("hash"));
    const proof = text(await makeTlogProof(at, { ledger, checkpoints }));
    proof.headers.set("content-disposition", `attachment; filename="entry-${at}.tlog-proof"`);
    return proof;
  });

  async function indexOf(position: string | undefined, hash: string | undefined): Promise<number> {
    if (hash === undefined) {
      const at = positionOf(position, "index");
      if (at !== undefined) return at;
      throw new InvalidInputError({ issues: [{ field: "index", message: "is required, or hash" }] });
    }
    const at = isLedgerHash(hash) ? index.indexOfHash(hash) : undefined;
    if (at !== undefined && (await ledger.entry(at)).currentHash === hash) return at;
    const message = "is not the hash of an entry in this ledger";
    throw new InvalidInputError({ code: "not_in_ledger", issues: [{ field: "hash", message }] });
  }

  return app;
}

function isWitnessed(text: string | undefined, size: number | undefined): boolean {
  if (text === undefined || text === "false") return false;
  const message =
    text !== "true" ? "must be true or false" : "must not be given with size: it gives the newest";
  if (text === "true" && size === undefined) return true;
  throw new InvalidInputError({ issues: [{ field: "witnessed", message }] });
}

function text(body: string): Response {
  return new Response(body, {
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache" },
  });
}
