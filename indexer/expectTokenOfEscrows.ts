import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import { createPublicClient, http } from "viem";
import type { IndexerConfig } from "./config.ts";
import { fetchWithin } from "./fetchWithin.ts";

const PATIENCE_MS = 30_000;

/**
 * Checks that each escrow whose events are read holds the token of the node. Every amount of an escrow counts as an
 * amount of this token, so hires in an escrow of a worthless token would make a reputation for nothing.
 *
 * @returns the escrows that did not answer
 * @throws InvalidInputError naming each escrow of another token
 */
export async function expectTokenOfEscrows({
  rpcUrl,
  token,
  params,
}: Pick<IndexerConfig, "rpcUrl" | "token" | "params">): Promise<Address[]> {
  const fetchFn = fetchWithin(PATIENCE_MS);
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: PATIENCE_MS, fetchFn }) });
  const issues: InputIssue[] = [];
  const unknown: Address[] = [];
  for (const escrow of Object.keys(params.escrows) as Address[]) {
    const call = { address: escrow, abi: hireEscrowAbi, functionName: "token" } as const;
    const its = await client.readContract(call).then(
      (address) => address.toLowerCase(),
      () => undefined,
    );
    if (its === undefined) unknown.push(escrow);
    else if (its !== token)
      issues.push({
        field: "ESCROWS",
        message: `must not name ${escrow}: it holds the token ${its}, not ${token}`,
      });
  }
  if (issues.length > 0) {
    const hint = "Take it out of ESCROWS: a node counts hires in one token only, TOKEN_ADDRESS.";
    throw new InvalidInputError({ issues, code: "invalid_configuration", hint });
  }
  return unknown;
}
