import type { Address } from "tallystick-protocol/address";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import { createPublicClient, http } from "viem";
import type { IndexerConfig } from "./config.ts";
import { fetchWithin } from "./fetchWithin.ts";
import { hasCode } from "./hasCode.ts";

const PATIENCE_MS = 30_000;

/**
 * Checks that START_BLOCK is before the deployment of the contracts whose events are read. Otherwise their
 * earlier events would be missing without an error. An RPC without such old state cannot answer, and then
 * nothing is refused.
 *
 * @returns the contracts for which there was no answer
 * @throws InvalidInputError naming each contract that existed before START_BLOCK
 */
export async function expectStartBeforeContracts({
  rpcUrl,
  startBlock,
  params,
  anchoredLedger,
  registries,
}: Pick<IndexerConfig, "rpcUrl" | "startBlock" | "params" | "anchoredLedger" | "registries">): Promise<
  Address[]
> {
  if (startBlock === 0) return [];
  const fetchFn = fetchWithin(PATIENCE_MS);
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: PATIENCE_MS, fetchFn }) });
  const contracts = [
    ...Object.keys(params.escrows).map((it) => ["escrow", it as Address] as const),
    ...(anchoredLedger === null ? [] : [["ledger contract", anchoredLedger] as const]),
    ...(registries === null ? [] : [["identity registry", registries.identity] as const]),
    ...(registries === null ? [] : [["reputation registry", registries.reputation] as const]),
  ];
  const issues: InputIssue[] = [];
  const unknown: Address[] = [];
  for (const [what, address] of contracts) {
    try {
      if (!(await hasCode(client, address, BigInt(startBlock - 1)))) continue;
      issues.push({
        field: "START_BLOCK",
        message: `must be earlier: the ${what} ${address} was there before`,
      });
    } catch {
      unknown.push(address);
    }
  }
  if (issues.length === 0) return unknown;
  const lines = issues.map(({ field, message }) => `  ${field} ${message}`);
  throw new InvalidInputError({
    issues,
    code: "start_block_too_late",
    message: `The indexer would miss events:\n${lines.join("\n")}`,
    hint: "Set START_BLOCK to the block in which the first of them was deployed, or an earlier one; the deployment record has it.",
  });
}
