import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Address } from "tallystick-protocol/address";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import type { Log } from "tallystick-runtime/stderrLog";
import type { Budget } from "tallystick-sdk/budget/budget";
import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import { settledBlock } from "tallystick-sdk/chain/paymentState";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { type CreateBuyerParameters, createBuyer } from "tallystick-sdk/createBuyer";
import { knownLedger } from "tallystick-sdk/knownLedger";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { type Fetch, requestService } from "tallystick-sdk/requestService";
import { settledEntryForm } from "tallystick-sdk/settledEntryForm";
import { fileStore } from "tallystick-sdk/store/fileStore";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { requireStoreOf } from "tallystick-sdk/store/requireStoreOf";
import type { LocalAccount, Transport } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { anyAnswer, createAuditorHires } from "./auditorHires.ts";
import { createCanaryDesk, type SettledEntry } from "./canaryDesk.ts";
import { readCanaryPlan } from "./canaryPlan.ts";
import type { AuditingConfig } from "./config.ts";
import { createGraphqlNode } from "./graphqlNode.ts";
import { createOperator, type Operator } from "./operator.ts";
import type { OperatorNode } from "./operatorNode.ts";
import { createPaymentDesk } from "./paymentDesk.ts";
import { periodBudget } from "./periodBudget.ts";
import { createRefundDesk } from "./refundDesk.ts";

/** How long a signed payment can be used, in seconds. A process whose store is empty waits this long before it pays. */
const VALID_SECONDS = 1_800;

/** How many auditors are asked at once. */
const AT_ONCE = 8;

/** The answer about a settled record, with the record's place in the ledger. */
const placedForm = settledEntryForm.extend({ index: z.int().min(0) });

export type OpenOperatorParameters = {
  config: AuditingConfig;
  log: Log;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Tests replace the node's API, the chain's RPC, and the connections to strangers. */
  node?: OperatorNode;
  transport?: Transport;
  fetch?: Fetch;
  ledger?: LedgerName;
};

/**
 * Opens an operator on its folder. Asks the chain for its final block, and resumes unfinished hires of auditors.
 *
 * @throws TallystickError `other_store` when the folder belongs to another pool, token or chain. Otherwise a payment
 * that was decided on a test network could be signed again, for real money
 */
export async function openOperator(parameters: OpenOperatorParameters): Promise<Operator> {
  const { config, log, now, fetch } = parameters;
  const { nodeUrl, network, folder, confirmations } = config;
  const pool = privateKeyToAccount(config.poolKey);
  const operator = privateKeyToAccount(config.operatorKey);
  const rpc = parameters.transport ?? config.rpcUrl;
  const store = fileStore(folder);
  await requireOwnStore(store, network, pool);
  const sender = createTransactionSender({ account: pool, chainId: network.chainId, rpc, store, log });
  const budget = periodBudget({ store, limit: config.budget, now });
  // Payments expire by the chain's clock. The clock of a local chain may be ahead of this machine's clock. The final
  // block of a real chain is never ahead of this machine's clock.
  let ahead = 0;
  const finalBlock = async () => {
    const block = await sender.client.getBlock({
      blockNumber: await settledBlock(sender.client, confirmations),
    });
    ahead = Math.max(0, Number(block.timestamp) * 1000 - now());
    return block;
  };
  const ledger = knownLedger({ baseUrl: nodeUrl, ledger: parameters.ledger, store, fetch });
  const payAfter = await beginAfter(store, Number((await finalBlock()).timestamp));

  const openBuyer = (account: LocalAccount, name: string, limits: { budget?: Budget }) =>
    createBuyer({
      account,
      baseUrl: nodeUrl,
      network,
      journal: fileStore(path.join(folder, name)),
      client: sender.client as NonNullable<CreateBuyerParameters["client"]>,
      confirmations,
      devMode: config.devMode,
      now,
      chainNow: () => now() + ahead,
      ...(fetch !== undefined && { fetch }),
      ...(parameters.ledger !== undefined && { ledger: parameters.ledger }),
      ...limits,
    });
  const buyer = openBuyer(pool, "hires", { budget });
  const settle = async (type: string, body: RecordBody, signal: AbortSignal): Promise<SettledEntry> => {
    const named = await ledger(signal);
    const record = await signRecord({ type, ledger: named, body, account: operator });
    const path = "/v1/records";
    const { text } = await requestService({ baseUrl: nodeUrl, path, body: record, fetch, signal });
    return { ledger: named, index: readServiceAnswer(placedForm, tryForeignJson(text)).index };
  };
  // Unfinished hires of an earlier process are resumed, at whatever stage they stopped.
  const resumed = await buyer.resume(anyAnswer).catch((error) => {
    log("Unfinished hires of auditors could not be resumed.", { error });
    return [];
  });
  for (const one of resumed)
    if ("error" in one && !one.isOver)
      log("A hire of an auditor is unfinished.", { hireId: one.hireId, error: one.error });

  return createOperator({
    node:
      parameters.node ??
      createGraphqlNode({ baseUrl: nodeUrl, operator: operator.address.toLowerCase() as Address, fetch }),
    payments: createPaymentDesk({
      ...{ pool, network, sender, store, budget, confirmations, log },
      least: config.least,
      validSeconds: VALID_SECONDS,
    }),
    hires: createAuditorHires({ buyer, store, payBefore: config.payBefore, atOnce: AT_ONCE, log }),
    refunds:
      config.arbiterKey === undefined
        ? undefined
        : createRefundDesk({
            arbiter: privateKeyToAccount(config.arbiterKey),
            ...{ network, sender, log },
            escrows: config.escrows,
          }),
    canaries: createCanaryDesk({
      ...{ store, settle, log },
      plans:
        config.canariesFile === undefined
          ? []
          : [readCanaryPlan(await readFile(config.canariesFile, "utf8"))],
      openBuyer: (account) => openBuyer(account, `canary-${account.address.toLowerCase()}`, {}),
    }),
    pool: pool.address.toLowerCase(),
    finalTime: async () => Number((await finalBlock()).timestamp),
    budgetLeft: () => budget.remaining(),
    payAfter,
    ...{ roundMs: config.roundMs, now, log },
  });
}

async function requireOwnStore(
  store: KeyValueStore,
  { chainId, token }: PaymentNetwork,
  pool: LocalAccount,
): Promise<void> {
  await requireStoreOf(store, {
    name: "auditing",
    scope: { chain: chainId, token: token.toLowerCase(), pool: pool.address.toLowerCase() },
    hint: "Give each pool a folder of its own (AUDIT_DIR), or name the pool, token and chain of this folder. Nothing was paid.",
  });
}

/**
 * Returns the time from which payments are made, in unix seconds. The store remembers when the operator first began. A
 * process with an empty store may have lost a signed payment, so it waits until every such payment has expired.
 */
async function beginAfter(store: ReturnType<typeof fileStore>, time: number): Promise<number> {
  await store.putNew("operator/began", { time });
  const began = await store.get<{ time: number }>("operator/began");
  return (began?.time ?? time) + VALID_SECONDS;
}
