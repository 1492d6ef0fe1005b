import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import { type InputIssue, InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { createPublicClient, http } from "viem";
import type { IndexerConfig } from "./config.ts";
import { fetchWithin } from "./fetchWithin.ts";
import { hasCode } from "./hasCode.ts";
import { loggedReason } from "./publicReason.ts";
import { tryAgain } from "./tryAgain.ts";

const PATIENCE_MS = 30_000;

/** The milliseconds after each attempt but the last. */
const PAUSES = [250, 1_000, 4_000, 16_000];

/**
 * Checks that each escrow whose events are read holds the token of the node. Every amount of an escrow counts as an
 * amount of this token, so hires in an escrow of a worthless token would make a reputation for nothing. A contract whose
 * token nobody can read is refused for the same reason.
 *
 * @param options.pauses the milliseconds after each attempt to read from the chain, but the last
 * @returns the escrows that are not deployed. Most attempts said so, and none saw code: a node of the chain that lags behind
 * does not have the code of a contract yet
 * @throws InvalidInputError naming each escrow of another token
 * @throws TallystickError `escrow_token_unknown` naming an escrow that gives no answer after all attempts
 */
export async function expectTokenOfEscrows(
  { rpcUrl, token, params }: Pick<IndexerConfig, "rpcUrl" | "token" | "params">,
  { signal, pauses = PAUSES }: { signal: AbortSignal; pauses?: readonly number[] },
): Promise<Address[]> {
  const fetchFn = fetchWithin(PATIENCE_MS);
  const transport = http(rpcUrl, { timeout: PATIENCE_MS, fetchFn, retryCount: 0 });
  const client = createPublicClient({ transport });
  const tokenOf = async (escrow: Address): Promise<string | undefined> => {
    const seen = { absent: 0, hasCode: false };
    const ask = async (): Promise<string> => {
      if (!(await hasCode(client, escrow))) {
        seen.absent++;
        throw new Error("it has no code");
      }
      seen.hasCode = true;
      const call = { address: escrow, abi: hireEscrowAbi, functionName: "token" } as const;
      return (await client.readContract(call)).toLowerCase();
    };
    return await tryAgain(`read the token of the escrow ${escrow}`, signal, ask, pauses).catch((error) => {
      signal.throwIfAborted();
      if (!seen.hasCode && 2 * seen.absent > pauses.length + 1) return undefined;
      throw new TallystickError({
        code: "escrow_token_unknown",
        message: `The token of the escrow ${escrow} could not be read.`,
        hint: "Check that RPC_URL answers, and that the contract is a HireEscrow. Then start the indexer again.",
        // The error of the RPC's client has the whole URL, with the key of the account.
        cause: loggedReason(error),
      });
    });
  };
  const escrows = Object.keys(params.escrows) as Address[];
  // Each escrow may use up all attempts, so all are asked at once.
  const tokens = await Promise.all(escrows.map(tokenOf));
  const issues: InputIssue[] = [];
  const missing: Address[] = [];
  for (const [n, escrow] of escrows.entries()) {
    const its = tokens[n];
    if (its === undefined) missing.push(escrow);
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
  return missing;
}
