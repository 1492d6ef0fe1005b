import path from "node:path";
import { allowedEscrows } from "tallystick-mcp/escrowSetting";
import { readMcpConfig } from "tallystick-mcp/mcpConfig";
import { stageInWords } from "tallystick-mcp/progress";
import { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
import { TallystickError } from "tallystick-protocol/errors";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import type { ResumedHire } from "tallystick-sdk/buyer/resumeHires";
import { type Buyer, createBuyer } from "tallystick-sdk/createBuyer";
import { HireFailedError } from "tallystick-sdk/errors";
import type { HireParameters } from "tallystick-sdk/hireParameters";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { createPublicClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { watchShutdown } from "../cli/shutdown.ts";

/**
 * The outcome of a hire. Amounts are in USDC. `result`, `receiptIssues` and `seller_words` come from a
 * stranger.
 */
export type HireOutcome =
  | { status: "done"; idempotency_key: string; hire: HireResult }
  /** The payment was sent, and the seller has not finished. `hire --resume` finishes the hire. */
  | {
      status: "running";
      idempotency_key: string;
      hire_id: string;
      job_id: string;
      money: string;
      reason: string;
    };

/**
 * Makes a buyer from the environment variables, with the settings of `tallystick-mcp`: its wallet, chain
 * and escrows, and its spending cap if there is one. Its journal is in `TALLYSTICK_STATE_DIR`, or in
 * `.tallystick/buyers/` under its address.
 *
 * @param maxPriceUsdc the most that the hire may cost; absent: nothing new is paid
 * @throws TallystickError `no_wallet`, `above_limit_per_hire`; InvalidInputError naming every variable at fault
 */
export function buyerOf(environment: { [name: string]: string | undefined }, maxPriceUsdc?: string): Buyer {
  const config = readMcpConfig(environment);
  const { maxPerHire } = config;
  if (maxPerHire !== undefined && maxPriceUsdc !== undefined && parseUsdc(maxPriceUsdc) > maxPerHire) {
    throw new TallystickError({
      code: "above_limit_per_hire",
      message: `One hire may cost at most ${formatUsdc(maxPerHire)} USDC here.`,
      hint: "Give a lower --max-price, or raise TALLYSTICK_MAX_PER_HIRE_USDC.",
      field: "--max-price",
    });
  }
  const { baseUrl, network, ledger, escrows, privateKey, spendCap, devMode, rpcUrl } = config;
  if (privateKey === undefined) {
    throw new TallystickError({
      code: "no_wallet",
      message: "There is no wallet to pay with.",
      hint: "Set TALLYSTICK_PRIVATE_KEY in the environment or in .env.",
      field: "TALLYSTICK_PRIVATE_KEY",
    });
  }
  const account = privateKeyToAccount(privateKey);
  const address = account.address.toLowerCase();
  const store = fileStore(config.stateDir ?? path.join(".tallystick/buyers", address));
  return createBuyer({
    account,
    baseUrl,
    network,
    escrows: allowedEscrows(escrows, globalThis.fetch),
    devMode,
    journal: store,
    ...(spendCap !== undefined && {
      budget: storeBudget({ store, name: `mcp-${address}`, limit: spendCap }),
    }),
    ...(ledger !== undefined && { ledger }),
    ...(rpcUrl !== undefined && { client: createPublicClient({ transport: rpcTransport(rpcUrl) }) }),
  });
}

/**
 * Hires somebody and waits a limited time for the result. When the time is over, or after Ctrl-C, a hire that
 * was paid stays in the journal and can be resumed. A hire that was not paid costs nothing.
 *
 * @param waitMs the longest wait for the result
 * @throws what `hire` throws
 */
export async function hireFor(
  buyer: Buyer,
  parameters: HireParameters,
  waitMs: number,
  tell: (sentence: string) => void,
): Promise<HireOutcome> {
  const idempotencyKey = parameters.idempotencyKey ?? (await buyer.keyOf(parameters));
  const shutdown = watchShutdown();
  const signal = AbortSignal.any([shutdown.signal, AbortSignal.timeout(waitMs)]);
  try {
    const hire = await buyer.hire({
      ...parameters,
      idempotencyKey,
      signal,
      onProgress: (stage) => tell(`${stageInWords(stage)} …`),
    });
    return { status: "done", idempotency_key: idempotencyKey, hire };
  } catch (error) {
    if (error instanceof HireFailedError && isOpen(error)) {
      const { hireId, jobId, money, code } = error;
      const ids = { idempotency_key: idempotencyKey, hire_id: hireId, job_id: jobId };
      return { status: "running", ...ids, money, reason: code };
    }
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new TallystickError({
      code: "not_hired",
      message: "Nobody was hired in time, and nothing was paid.",
      hint: "Give it more time by --wait, or call it again.",
      cause: error,
    });
  } finally {
    shutdown.release();
    await buyer.idle();
  }
}

/** Whether a hire that was paid can still finish. */
function isOpen({ code, money }: HireFailedError): boolean {
  const isUnanswered = ["aborted", "deadline_passed", "seller_timeout", "seller_unreachable"].includes(code);
  return isUnanswered && (money === "authorized" || money === "held");
}

/**
 * The outcome as JSON for programs. The listing, which is long, and the receipt's copy of the hire are left
 * out.
 */
export function hireJson(hire: HireResult) {
  return {
    hire_id: hire.hireId,
    job_id: hire.jobId,
    agent_id: hire.listing.agent_id,
    money: hire.money,
    price_paid_usdc: hire.pricePaidUsdc,
    payment_mode: hire.paymentMode,
    tx: hire.tx,
    settlement_tx: hire.settlementTx,
    escrow: hire.escrow,
    receipt_hash: hire.receiptHash,
    rating_token: hire.ratingToken,
    receipt_issues: hire.receiptIssues,
    verification: hire.verification,
    latency_ms: hire.latencyMs,
    repeated: hire.isRepeated ?? false,
    result: hire.result as unknown,
  };
}

/** One line of the output of `hire --resume`. */
export function resumedJson(resumed: ResumedHire) {
  if ("hire" in resumed) return { status: "done", ...hireJson(resumed.hire) };
  const { hireId, jobId, isOver, money, error } = resumed;
  const { code, message, hint } = error;
  return {
    status: isOver ? "over" : "running",
    hire_id: hireId,
    job_id: jobId,
    money,
    error: { code, message, hint: hint ?? null },
  };
}
