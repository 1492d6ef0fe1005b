import pg from "pg";
import type { Address } from "tallystick-protocol/address";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient } from "viem";
import type { Environment } from "./processEnvironment.ts";

const PATIENCE_MS = 10_000;

/**
 * Checks that the database and the chain match the settings, before anything is started.
 *
 * @throws InvalidInputError naming all differences at once
 */
export async function checkNode(environment: Environment): Promise<void> {
  const issues = (await Promise.all([database(environment), chain(environment)])).flat();
  if (issues.length === 0) return;
  throw new InvalidInputError({
    issues,
    code: "node_not_ready",
    message: "The settings name things that do not exist:",
    hint: "Nothing was started. Correct .env, or start the missing service, and try again.",
  });
}

async function database({ DATABASE_URL: url = "" }: Environment): Promise<InputIssue[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query(
      "SELECT has_database_privilege(current_database(), 'CREATE') AS allowed",
    );
    if (rows[0]?.allowed) return [];
    return [{ field: "DATABASE_URL", message: "its user may not create schemas in this database" }];
  } catch (error) {
    return [{ field: "DATABASE_URL", message: `does not answer: ${sentence(error)}` }];
  } finally {
    await client.end().catch(() => {});
  }
}

async function chain(environment: Environment): Promise<InputIssue[]> {
  const { RPC_URL: url = "", CHAIN_ID: chainId, START_BLOCK: startBlock = "0" } = environment;
  const client = createPublicClient({
    transport: rpcTransport(url, { retryCount: 1, timeout: PATIENCE_MS }),
  });
  let found: number;
  let height: bigint;
  try {
    [found, height] = await Promise.all([client.getChainId(), client.getBlockNumber()]);
  } catch (error) {
    return [{ field: "RPC_URL", message: `does not answer: ${sentence(error)}` }];
  }
  if (found !== Number(chainId)) {
    return [{ field: "CHAIN_ID", message: `is ${chainId}, but RPC_URL is chain ${found}` }];
  }
  const issues: InputIssue[] = [];
  if (BigInt(startBlock) > height) {
    issues.push({ field: "START_BLOCK", message: `is ${startBlock}, but the chain is only at ${height}` });
  }
  const contracts = contractsOf(environment);
  const codes = await Promise.all(contracts.map(([, address]) => client.getCode({ address })));
  contracts.forEach(([field, address], n) => {
    if (codes[n] === undefined) issues.push({ field, message: `there is no contract at ${address}` });
  });
  return issues;
}

function contractsOf({ TOKEN_ADDRESS, ANCHORED_LEDGER, ESCROWS = "" }: Environment): [string, Address][] {
  const escrows = ESCROWS.split(",")
    .map((part) => part.split("=")[0]?.trim() ?? "")
    .filter((address) => address !== "");
  return [
    ["TOKEN_ADDRESS", TOKEN_ADDRESS as Address],
    ["ANCHORED_LEDGER", ANCHORED_LEDGER as Address],
    ...escrows.map((address): [string, Address] => ["ESCROWS", address as Address]),
  ];
}

/** An error in one line: the first of its message, or its code when it has none. */
function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [first = ""] = error.message.split("\n");
  return first || String((error as NodeJS.ErrnoException).code ?? error.name);
}
