import type { McpServer } from "@modelcontextprotocol/server";
import { type TokenVerdict, verifySettlementToken } from "tallystick-protocol/actions/settlementToken";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { parseVerifierKeys } from "tallystick-protocol/note/verifierKeys";
import { type VerifiedProof, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import { checkBuyerSignature, checkReceipt } from "tallystick-protocol/records/receipt";
import { isSignedBy, recordFromPayload } from "tallystick-protocol/records/record";
import { confirmProof } from "tallystick-sdk/proof/confirmProof";
import { requestBundle } from "tallystick-sdk/proof/requestBundle";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { requestService, ServiceError } from "tallystick-sdk/requestService";
import { settledEntryForm } from "tallystick-sdk/settledEntryForm";
import { z } from "zod";
import type { McpContext } from "../mcpContext.ts";
import {
  plainCapability,
  plainFigure,
  plainFigures,
  plainName,
  strangersText,
  strangersTextSchema,
} from "../strangersText.ts";
import { answering } from "../toolResult.ts";

/**
 * The form of a signed checkpoint: origin, size and root, an empty line, and signatures. A text of this form cannot
 * contain a sentence that the node wrote for the model.
 */
const CHECKPOINT =
  /^[!-~]{1,128}\n\d{1,16}\n[A-Za-z0-9+/]{43}=\n\n(?:\u2014 [!-~]{1,128} [A-Za-z0-9+/=]{1,8000}\n)+$/;
const checkpointForm = z.string().max(8_192).regex(CHECKPOINT);

const READS = { readOnlyHint: true, openWorldHint: true } as const;
const hash = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits");

/** The fields of a decision that are no text. */
const decisionFigures = {
  expires_at: z.int().min(0).optional().describe("Unix seconds. The token is valid until then."),
  action_hash: hash.optional(),
  hash: hash.optional().describe("The ledger's entry of the permission."),
  index: z.int().min(0).optional(),
  head: hash.optional().describe("The ledger's present head, if another entry came first."),
};

/** The answers of settlement, as far as something follows from them. */
const decisionForm = z.object({
  ...decisionFigures,
  proceed: z.boolean(),
  reason: z.string(),
  settlement_token: z
    .string()
    .regex(/^tst_[\w.-]{1,4096}$/)
    .nullish(),
  rule: z.string().nullish(),
});
const proofForm = z.object({ index: z.int().min(0), size: z.int().min(1) });
const statusForm = z.looseObject({ status: z.string().nullable() });
const latestForm = settledEntryForm.extend({
  ledger: z.string(),
  origin: z.string(),
  size: z.int().min(0),
  root: z.string(),
});

/** Tools of the ledger: permission for risky actions, the state of the ledger, and proofs (swarm.at §8). */
export function registerSettlementTools(server: McpServer, context: McpContext): void {
  registerSettleAction(server, context);
  registerCheckSettlement(server, context);
  registerLedgerStatus(server, context);
  registerVerifyReceipt(server, context);
}

function registerSettleAction(server: McpServer, context: McpContext): void {
  server.registerTool(
    "settle_action",
    {
      title: "Settle an action before taking it",
      description:
        'Ask for permission for a risky action: a terminal command, a file write, a payment or a deletion. Describe it in typed arguments, e.g. {"type":"deletion","path":"/srv/app/build/x","recursive":false} or {"type":"terminal","program":"npm","args":["run","test"],"cwd":"/srv/app"}; never as a line for a shell. Do it only if proceed is true, and give settlement_token to the program that carries it out.',
      inputSchema: z.object({
        action: z
          .record(z.string(), z.unknown())
          .describe("type is terminal, file_write, payment or deletion."),
        context: z.unknown().optional().describe("The reason; the ledger keeps only its hash."),
        parent_hash: hash
          .optional()
          .describe("The head of the ledger on which you decided; default: the present head."),
      }),
      outputSchema: z.object({
        proceed: z.boolean(),
        settlement_token: z.string().nullable(),
        rule: z.string().nullable().describe("The operator's rule that decided."),
        ...decisionFigures,
        from_others: strangersTextSchema.describe("The reason, as the node gives it."),
      }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    ({ action, context: why = null, parent_hash: parentHash }) =>
      answering(async () => {
        const { baseUrl, apiKey, fetch } = context;
        if (apiKey === undefined) {
          throw new TallystickError({
            code: "no_api_key",
            message: "This server has no key for the settlement of actions.",
            hint: "Its operator can make a key with tallystick keys add, and set TALLYSTICK_API_KEY to it. Until then: do not act.",
          });
        }
        const parent_hash = parentHash ?? (await ask(context, "/v1/ledger/latest", settledEntryForm)).hash;
        const body = { action, context: why, parent_hash };
        const { text } = await requestService({ baseUrl, path: "/v1/actions", apiKey, body, fetch });
        const decision = readServiceAnswer(decisionForm, tryForeignJson(text));
        const { proceed, reason, settlement_token: token = null, rule = null, ...figures } = decision;
        return {
          proceed,
          settlement_token: proceed ? token : null,
          rule: rule === null ? null : plainName(rule),
          ...figures,
          from_others: strangersText({ reason }),
        };
      }),
  );
}

function registerCheckSettlement(server: McpServer, context: McpContext): void {
  server.registerTool(
    "check_settlement",
    {
      title: "Check a settlement",
      description:
        "The state of a task, whether a hash is in the ledger, or whether a settlement token permits an action now. Give task_id, or hash, or settlement_token with action.",
      inputSchema: z.object({
        task_id: z.string().min(1).max(512).optional(),
        hash: hash.optional(),
        settlement_token: z.string().optional(),
        action: z.record(z.string(), z.unknown()).optional(),
      }),
      outputSchema: z.looseObject({
        settled: z.boolean(),
        reason: z.string().nullable(),
        from_others: strangersTextSchema.optional().describe("The text of the agent that settled it."),
      }),
      annotations: READS,
    },
    ({ task_id: taskId, hash: entry, settlement_token: token, action }) =>
      answering(async () => {
        if (token !== undefined) {
          const keys = parseVerifierKeys(await read(context, "/v1/ledger/key"));
          const now = Math.floor(context.now() / 1000);
          const verdicts = keys.map(({ name: origin, publicKey }) =>
            verifySettlementToken({ token, action, publicKey, origin, now }),
          );
          const verdict = verdicts.find(({ valid }) => valid) ?? (verdicts[0] as TokenVerdict);
          return verdict.valid
            ? { settled: true, reason: null, from_others: strangersText(verdict.claims) }
            : { settled: false, reason: `The token ${withoutOrigin(verdict.reason)}.` };
        }
        try {
          if (entry !== undefined) {
            const { index, size } = await ask(context, `/v1/ledger/proof?hash=${entry}`, proofForm);
            return { settled: true, reason: null, hash: entry, index, size };
          }
          if (taskId === undefined) {
            throw new TallystickError({
              code: "invalid_input",
              message: "Give task_id, hash, or settlement_token with action.",
            });
          }
          const status = await ask(context, `/v1/status/${encodeURIComponent(taskId)}`, statusForm);
          return {
            settled: status.status === "SETTLED",
            reason: null,
            status: plainFigure(String(status.status)),
            from_others: strangersText(status),
          };
        } catch (error) {
          const isUnknown =
            error instanceof ServiceError && ["unknown_task", "not_in_ledger"].includes(error.code);
          if (!isUnknown) throw error;
          // The node wrote the error's message, and anybody may run a node.
          return {
            settled: false,
            reason: `The node knows no such ${entry === undefined ? "task" : "entry"}.`,
          };
        }
      }),
  );
}

function registerLedgerStatus(server: McpServer, context: McpContext): void {
  server.registerTool(
    "ledger_status",
    {
      title: "Ledger status",
      description:
        "The ledger's number of entries, its head, its Merkle root, and the signed checkpoint of these.",
      inputSchema: z.object({}),
      outputSchema: z.object({
        ledger: z.string(),
        origin: z.string(),
        size: z.number(),
        hash: z.string(),
        root: z.string(),
        checkpoint: z.string(),
      }),
      annotations: READS,
    },
    () =>
      answering(async () => {
        const [latest, checkpoint] = await Promise.all([
          ask(context, "/v1/ledger/latest", latestForm),
          read(context, "/v1/ledger/checkpoint"),
        ]);
        const { ledger, origin, size, hash, root } = latest;
        const what = "The node's checkpoint";
        return {
          ...(plainFigures({ size, hash, root }) as object),
          ledger: plainName(ledger),
          origin: plainName(origin),
          checkpoint: readServiceAnswer(checkpointForm, checkpoint, { what }),
        };
      }),
  );
}

function registerVerifyReceipt(server: McpServer, context: McpContext): void {
  server.registerTool(
    "verify_receipt",
    {
      title: "Verify a receipt",
      description:
        "Fetch a receipt with its proof and check all of it in this server: the seller's signature, the buyer's signature if there is one, the place in the ledger's tree, and the signed checkpoint. It trusts only the node's key, and checks every other answer.",
      inputSchema: z.object({ receipt_hash: hash }),
      outputSchema: z.object({
        valid: z.boolean(),
        index: z.number(),
        size: z.number(),
        root: z.string(),
        seller: z.string(),
        buyer: z.string(),
        buyer_signed: z.boolean(),
        capability: z.string().describe("A standard capability; from_seller has any other."),
        amount_usdc_atomic: z.string(),
        tx_hash: z.string(),
        all_passed: z.boolean(),
        anchored_by: z
          .string()
          .nullable()
          .describe(
            "The transaction, confirmed on the chain; null if nothing is anchored or no chain answered.",
          ),
        from_seller: strangersTextSchema,
      }),
      annotations: READS,
    },
    ({ receipt_hash: entry }) => answering(() => verifyReceipt(context, entry).catch(withoutQuotes)),
  );
}

async function verifyReceipt(context: McpContext, entry: string) {
  const [bundle, key] = await Promise.all([
    requestBundle({ baseUrl: context.baseUrl, hash: entry, fetch: context.fetch }),
    read(context, "/v1/ledger/key"),
  ]);
  const { chain } = context;
  const proof = verifyProofBundle(bundle, {
    keys: parseVerifierKeys(key),
    leaveWriterToChain: chain !== undefined,
  });
  const anchoredBy = chain === undefined ? null : await confirmedAnchor(proof, chain);
  if (proof.entry.currentHash !== entry) throw invalidReceipt("The node proved another entry.");
  if (proof.entry.payload.type !== "receipt") throw invalidReceipt("This entry is not a receipt.");
  const record = recordFromPayload(proof.entry.payload);
  const receipt = checkReceipt(record);
  if (!isSignedBy(record.body, record.signature, record.signer)) {
    throw invalidReceipt(
      "The seller's key did not sign it. If the seller is a contract wallet, its signature can be checked only on the chain.",
    );
  }
  return {
    valid: true,
    index: proof.index,
    size: proof.checkpoint.size,
    root: toHex(proof.checkpoint.root),
    seller: receipt.agent_id,
    buyer: receipt.buyer,
    buyer_signed: checkBuyerSignature(record.body),
    capability: plainCapability(receipt.capability),
    amount_usdc_atomic: receipt.amount_usdc_atomic,
    tx_hash: receipt.tx_hash,
    all_passed: receipt.verification.all_passed,
    anchored_by: anchoredBy,
    from_seller: strangersText({ capability: receipt.capability }),
  };
}

/** The error for a proof that cannot be read. The faults in it quote the node, so the error has none of them. */
function withoutQuotes(cause: unknown): never {
  if (!(cause instanceof InvalidInputError)) throw cause;
  throw invalidReceipt("What the node gave as proof cannot be read.");
}

function invalidReceipt(message: string): TallystickError {
  return new TallystickError({ code: "receipt_invalid", message, hint: "Do not rely on it." });
}

/**
 * The transaction that anchored the proof's root, as the chain confirms it. Null if the node names none, or if this
 * chain cannot say. If only the chain can show who writes the ledger, the chain must confirm the proof.
 */
async function confirmedAnchor(
  proof: VerifiedProof,
  chain: NonNullable<McpContext["chain"]>,
): Promise<string | null> {
  const { ledger, transaction } = proof;
  if (ledger === null) return null;
  const isNeeded = ledger.rests === "nothing";
  if (transaction === null && !isNeeded) return null;
  try {
    return (await confirmProof(proof, chain)).transaction;
  } catch (error) {
    if (isNeeded || (error as TallystickError).code !== "chain_unavailable") throw error;
    return null;
  }
}

/** The reason why a token is refused, without the name of the ledger that the token gives. */
function withoutOrigin(reason: string): string {
  const other = "is of another ledger";
  return reason.startsWith(other) ? other : reason;
}

async function ask<Form extends z.ZodType>(
  context: McpContext,
  path: string,
  form: Form,
): Promise<z.output<Form>> {
  return readServiceAnswer(form, tryForeignJson(await read(context, path)));
}

async function read({ baseUrl, fetch }: McpContext, path: string): Promise<string> {
  return (await requestService({ baseUrl, path, fetch })).text;
}
