import { type Context, Hono } from "hono";
import { fileHash } from "tallystick-protocol/erc8004/jsonFile";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { hash32Schema } from "tallystick-protocol/hash32Schema";
import { isHex } from "tallystick-protocol/hex";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import { checkBinding } from "tallystick-protocol/records/binding";
import { boundForm } from "tallystick-protocol/records/boundForm";
import { entryHashSchema } from "tallystick-protocol/records/entryHashSchema";
import type { SignedRecord } from "tallystick-protocol/records/record";
import { z } from "zod";
import type { AppDependencies } from "../appDependencies.ts";
import { readSignedRecord } from "../engine/readSignedRecord.ts";
import { recordKey } from "../engine/recordKey.ts";
import { judgeFile } from "../erc8004/fileRules.ts";
import { limitADay } from "../http/rateLimits.ts";
import { readJson } from "../http/readJson.ts";
import { makeHireProof } from "../proofs/proofBundles.ts";

/**
 * The type of the signed request to keep a file. It names the file's hash, and an entry of the ledger by the
 * same signer.
 */
const FILE_TYPE = "erc8004_file";

/** How far the request's time may be from the present, in seconds. So an old request cannot be used again. */
const FRESH_SECONDS = 600;

/** How many new files this service keeps in a day for one network address. */
const MAX_FILES_A_DAY = 100;

const parseWord = boundForm({
  file_hash: hash32Schema,
  known_by: entryHashSchema,
  issued_at: z.int().min(0, "must be unix seconds"),
});

/**
 * Files of ERC-8004. The chain names them by their hash.
 *
 * - `GET /v1/erc8004/files/{hash}.json`: the file with that keccak-256. It never changes.
 * - `POST /v1/erc8004/files` takes `{body, signature, signer?, file}` with `file` as text and `body = {type:
 *   "erc8004_file", ledger, file_hash, known_by, issued_at}`; answers `{hash, path, kind}`, 201, or 200 when it
 *   is kept already. `known_by` is the hash of an entry of this ledger by the same signer. A network address
 *   without a key has at most 100 new files a day. So strangers cannot fill the disk.
 * - `GET /v1/erc8004/hire-proof?receipt=`: `{receipt_proof, rating_proof}`, both under one checkpoint: what a feedback
 *   file is made of.
 */
export function erc8004Routes(dependencies: AppDependencies): Hono {
  const { checkpoints, files, index, ledger, ledgerName, now } = dependencies;
  const limit = { most: MAX_FILES_A_DAY, done: `stored ${MAX_FILES_A_DAY} files` };
  const countFile = limitADay(limit, dependencies);
  const app = new Hono();

  app.get("/v1/erc8004/files/:name", (c) => {
    const name = c.req.param("name").replace(/\.json$/, "");
    const text = isHex(name, 32) ? files.find(name.toLowerCase() as `0x${string}`) : undefined;
    if (text === undefined)
      throw new TallystickError({
        code: "not_found",
        message: `No file with the hash ${name} is kept here.`,
      });
    return fileAnswer(c, name.toLowerCase(), text);
  });

  app.post("/v1/erc8004/files", async (c) => {
    const value = await readJson(c.req.raw);
    const { record } = readSignedRecord(value, FILE_TYPE, ["file"], dependencies.recover);
    const { file: text } = value as { file?: unknown };
    if (typeof text !== "string") throw wrong("file", "is required: the file as text");
    checkBinding(record, ledgerName.ledger);
    const word = parseWord(record.body);
    if (fileHash(text) !== word.file_hash) throw wrong("body.file_hash", "must be the keccak-256 of file");
    if (Math.abs(now() - word.issued_at) > FRESH_SECONDS)
      throw wrong("body.issued_at", `must be within ${FRESH_SECONDS} seconds of now`);
    await dependencies.checkSignature(record);
    await requireKnown(record, word.known_by);
    const own = { ledger: ledgerName.ledger, keys: checkpoints.verifierKeys };
    const { file, kind, subject } = judgeFile(text, record.signer, own);
    const uncount = files.find(file.hash) === undefined ? await countFile(c) : () => {};
    let isNew = false;
    try {
      isNew = files.keep(file, kind, subject, record.signer);
    } finally {
      // A full disk, or another request with the same file, must not use up what this address may store.
      if (!isNew) uncount();
    }
    return c.json({ hash: file.hash, path: `/v1/erc8004/files/${file.hash}.json`, kind }, isNew ? 201 : 200);
  });

  app.get("/v1/erc8004/hire-proof", async (c) => {
    const receipt = c.req.query("receipt");
    if (!isLedgerHash(receipt)) throw wrong("receipt", "must be 64 lower-case hex digits");
    const at = await positionOfEntry(receipt);
    if (at === undefined)
      throw wrong("receipt", "is not the hash of an entry in this ledger", "not_in_ledger");
    const key = recordKey({ type: "rating", signer: "", body: { receipt, side: "buyer" } }, () => "");
    const ratingAt = index.indexOfRecord(key);
    if (ratingAt === undefined) {
      throw new TallystickError({
        code: "not_rated",
        message: "The buyer has not rated this hire in the ledger.",
        hint: "Rate it first: POST /v1/rate, or rate() of the SDK.",
      });
    }
    const { identity, transactionOf } = dependencies;
    return c.json(await makeHireProof(at, ratingAt, { ledger, checkpoints, identity, transactionOf }));
  });

  async function positionOfEntry(hash: string): Promise<number | undefined> {
    const at = index.indexOfHash(hash);
    return at !== undefined && (await ledger.entry(at)).currentHash === hash ? at : undefined;
  }

  async function requireKnown({ signer }: SignedRecord, hash: string): Promise<void> {
    const at = await positionOfEntry(hash);
    if (at !== undefined && (await ledger.entry(at)).payload.signer === signer) return;
    throw wrong("body.known_by", `must be the hash of an entry of this ledger that ${signer} signed`);
  }

  return app;
}

function fileAnswer(c: Context, hash: string, text: string): Response {
  const etag = `"${hash}"`;
  const headers = {
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": "application/json; charset=utf-8",
    "x-content-type-options": "nosniff",
    etag,
  };
  if (c.req.header("if-none-match") === etag) return new Response(null, { status: 304, headers });
  return new Response(text, { headers });
}

function wrong(field: string, message: string, code?: string): InvalidInputError {
  return new InvalidInputError({ issues: [{ field, message }], ...(code !== undefined && { code }) });
}
