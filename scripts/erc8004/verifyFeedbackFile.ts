import { PUBLISHED_REGISTRIES } from "tallystick-protocol/erc8004/registries";
import { RESPONSE_FORMAT } from "tallystick-protocol/erc8004/responseFile";
import { InvalidInputError } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { parseVerifierKey } from "tallystick-protocol/note/signedNote";
import type { ChainRegistries } from "tallystick-sdk/erc8004/registries";
import { fromChain, type VerifiedFeedback, verifyFeedback } from "tallystick-sdk/erc8004/verifyFeedback";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient } from "viem";
import { readAddress } from "../cli/readAddress.ts";
import { readAnyFile } from "./readAnyFile.ts";
import { type RegistryOptions, registriesOf } from "./registryOptions.ts";

export type VerifyFileOptions = RegistryOptions & {
  hash?: string;
  key?: string[];
  writer?: string;
  token?: string;
  escrow?: string;
  ipfsGateway?: string;
  response?: boolean;
};

/**
 * Checks a feedback file from a path or a URL, or with `response` a response file. Without an RPC no chain is asked.
 * Strangers choose the form of their files. A response passes without any feedback, so it does not pass as one.
 *
 * @throws TallystickError `unreadable_file`, `chain_unavailable`; InvalidInputError naming an option
 */
export async function verifyFeedbackFile(
  source: string,
  options: VerifyFileOptions,
): Promise<VerifiedFeedback> {
  const { hash, rpcUrl } = options;
  if (hash !== undefined && !/^0x[0-9a-fA-F]{64}$/.test(hash))
    throw new InvalidInputError({ issues: [{ field: "--hash", message: "must be 0x and 64 hex digits" }] });
  const text = await readAnyFile(source, options);
  requireForm(text, options.response ?? false);
  const address = (value: string | undefined, field: string) =>
    value === undefined ? undefined : readAddress(value, field);
  const client =
    rpcUrl === undefined
      ? undefined
      : createPublicClient({ transport: rpcTransport(rpcUrl, { timeout: 20_000 }), cacheTime: 0 });
  // A chain that does not answer is an error. Otherwise the event would be left out without a reason.
  const registries = client && registriesOrNone(options, await fromChain(() => client.getChainId()));
  return await verifyFeedback(text, {
    hash,
    keys: options.key?.map((key) => parseVerifierKey(key, "--key")),
    writer: address(options.writer, "--writer"),
    token: address(options.token, "--token"),
    escrow: address(options.escrow, "--escrow"),
    client,
    registries,
    isResponse: options.response,
  });
}

/** @throws InvalidInputError naming `--response` when the file is a response and should not be, or should be and is not */
function requireForm(text: string, wantsResponse: boolean): void {
  const { format } = Object(tryForeignJson(text)) as { format?: unknown };
  if ((format === RESPONSE_FORMAT) === wantsResponse) return;
  const message = wantsResponse
    ? "is for a response file, and this file is none"
    : "must be given to check this file: it is a response to a feedback, and shows no feedback";
  throw new InvalidInputError({ issues: [{ field: "--response", message }] });
}

/** The registries, if any are known on this chain. Checks that need no registry are made without them too. */
function registriesOrNone(options: RegistryOptions, chainId: number): ChainRegistries | undefined {
  const isNamed = options.registries !== undefined;
  const isPublished = Object.values(PUBLISHED_REGISTRIES).some((it) => it.chainId === chainId);
  return isNamed || isPublished ? registriesOf(options, chainId) : undefined;
}
