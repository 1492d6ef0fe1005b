import type { JsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { InvalidInputError } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { addressProblem } from "tallystick-protocol/net/publicAddress";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import { type Fetch, requestService } from "../requestService.ts";
import type { GasCost } from "./quoteGas.ts";
import type { ChainReader, ChainRegistries } from "./registries.ts";

/** What every post to ERC-8004's registries needs: the account, the chain and the node. */
export type Posting = {
  /** Signs the transaction and pays its gas. */
  account: LocalAccount;
  /** Reads the chain, and sends the signed transaction. */
  client: ChainReader;
  registries: ChainRegistries;
  /** The node that keeps the file. */
  baseUrl: string;
  /**
   * The URL at which others reach that node. It is written to the chain and stays there. Default: `baseUrl`.
   */
  publicUrl?: string | undefined;
  /** The URL of the file, if no node stores it. */
  uri?: string | undefined;
  /** The node's ledger, for which the request to keep the file is signed. */
  ledger: LedgerName;
  fetch?: Fetch | undefined;
  /**
   * Called with the cost, before anything is stored, signed or sent. If it returns false, nothing is stored,
   * signed or sent.
   */
  agree: (cost: GasCost) => boolean | Promise<boolean>;
  /** Unix seconds. */
  now: () => number;
  /** Allows http and private addresses. For local networks only. */
  devMode?: boolean | undefined;
  /** Milliseconds between two looks for the transaction. Default 1,000. */
  pollingMs?: number | undefined;
  /** How long to wait for the transaction, in milliseconds. Default 120,000. */
  minedMs?: number | undefined;
};

/**
 * The URL of a file, as it is written to the chain.
 *
 * @param fragment is added at the end, see `receiptFragment`
 * @throws InvalidInputError naming `publicUrl` or `uri` when strangers cannot reach it
 */
export function uriOf({ uri, publicUrl, baseUrl, devMode }: Posting, file: JsonFile, fragment = ""): string {
  if (uri !== undefined) {
    if (uri.includes("#") || uri.length > 2_048)
      invalid("uri", "must have at most 2,048 characters, and no # in it");
    if (/^(?:ipfs|ar|data):/.test(uri)) return uri + fragment;
  }
  const address = uri ?? `${(publicUrl ?? baseUrl).replace(/\/$/, "")}/v1/erc8004/files/${file.hash}.json`;
  const problem = devMode ? undefined : addressProblem(address);
  if (problem !== undefined) invalid(uri === undefined ? "publicUrl" : "uri", problem);
  return address + fragment;
}

/**
 * Stores a file at the node. The same file may be sent again. Does nothing if the caller gave a `uri`.
 *
 * @param knownBy the hash of an entry of the node's ledger that the account signed
 * @throws ServiceError `file_refused`, `too_many_files`, `files_full`, …
 */
export async function keepFile(posting: Posting, file: JsonFile, knownBy: string): Promise<void> {
  const { account, baseUrl, fetch, ledger, now, uri } = posting;
  if (uri !== undefined) return;
  const body = { file_hash: file.hash, known_by: knownBy, issued_at: Math.floor(now()) };
  const record = await signRecord({ type: "erc8004_file", ledger, body, account });
  const sent = { body: record.body, signer: record.signer, signature: record.signature, file: file.text };
  await requestService({ baseUrl, path: "/v1/erc8004/files", body: sent, fetch });
}

/** Asks the node for a path, and returns its JSON. */
export async function askJson({ baseUrl, fetch }: Posting, path: string): Promise<unknown> {
  const { text } = await requestService({ baseUrl, path, fetch });
  return tryForeignJson(text);
}

function invalid(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }] });
}
