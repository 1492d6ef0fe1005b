import { ed25519 } from "@noble/curves/ed25519.js";
import { actionHash, readAction } from "tallystick-protocol/actions/action";
import { issueSettlementToken, verifySettlementToken } from "tallystick-protocol/actions/settlementToken";
import type { Address } from "tallystick-protocol/address";
import { readClarifyRequest, signClarifyRequest } from "tallystick-protocol/clarification/clarifyRequest";
import { checkQuote, signQuote } from "tallystick-protocol/clarification/quote";
import {
  type Authorization,
  receiveWithAuthorizationTypedData,
  type TokenDomain,
  transferWithAuthorizationTypedData,
} from "tallystick-protocol/escrow/authorization";
import {
  type EscrowDeployment,
  escrowId,
  type Hire,
  hireTypedData,
  markDeliveredTypedData,
  refundTypedData,
  releaseTypedData,
  splitTypedData,
} from "tallystick-protocol/escrow/hire";
import { type Permit, permitTypedData } from "tallystick-protocol/escrow/permit";
import type { Hex } from "tallystick-protocol/hex";
import { readBudgetToken, requireBudgetToken, signBudgetToken } from "tallystick-protocol/hire/budgetToken";
import { readHireRequest, signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { type AnchorDeployment, anchorTypedData, headTypedData } from "tallystick-protocol/ledger/anchor";
import { signBody } from "tallystick-protocol/records/record";
import { type ExpectedReceipt, readDelivery } from "tallystick-sdk/buyer/readAnswer";
import { isByKey } from "tallystick-sdk/escrow/escrowSignature";
import { readCallback, signCallback } from "tallystick-sdk/readCallback";
import { hashTypedData, type TypedDataDefinition } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Verifier } from "./verifier.ts";

const NOW = 1_767_225_600;
const seller = privateKeyToAccount(`0x${"11".repeat(32)}`);
const buyer = privateKeyToAccount(`0x${"22".repeat(32)}`);
const addressOf = (account: { address: string }) => account.address.toLowerCase() as Address;
const [sellerId, buyerId] = [addressOf(seller), addressOf(buyer)];
const address = (byte: string): Address => `0x${byte.repeat(20)}`;
const hash = (byte: string): Hex => `0x${byte.repeat(32)}`;

const SEED = new Uint8Array(32).fill(9);
const EARLIER = "an earlier time is also before the end";

const hire: Hire = {
  hireId: hash("1a"),
  buyer: buyerId,
  seller: sellerId,
  payee: address("33"),
  amount: 500_000n,
  fee: 1_000n,
  feeRecipient: address("44"),
  deadline: 1_767_229_200n,
  arbiter: address("55"),
};
const escrow: EscrowDeployment = { chainId: 8453, escrow: address("ee") };
const token: TokenDomain = { name: "USD Coin", version: "2", chainId: 8453, token: address("70") };
const ledger: AnchorDeployment = { chainId: 8453, contract: address("cc") };
const authorization: Authorization = {
  from: buyerId,
  to: sellerId,
  value: 500_000n,
  validAfter: 5n,
  validBefore: 1_767_229_200n,
  nonce: hash("2b"),
};
const permit: Permit = {
  owner: buyerId,
  spender: escrow.escrow,
  value: 500_000n,
  nonce: 3n,
  deadline: 1_767_229_200n,
};

/** A message that a wallet signs (EIP-712), as contracts accept it. A change of any signed field is refused. */
function word<T extends object>(name: string, about: T, typedData: (about: T) => unknown): Verifier {
  const digestOf = (it: T) => hashTypedData(typedData(it) as TypedDataDefinition);
  return {
    name: `the word of a wallet: ${name}`,
    input: async () => ({
      about,
      signer: buyerId,
      signature: await buyer.signTypedData(typedData(about) as TypedDataDefinition),
    }),
    judge: (input: { about: T; signer: Address; signature: Hex }) => {
      let digest: Hex;
      try {
        digest = digestOf(input.about);
      } catch {
        return "about: is nothing that can be signed";
      }
      try {
        return isByKey({ signer: input.signer, digest, signature: input.signature })
          ? undefined
          : "not signed";
      } catch {
        return "not signed: no hex";
      }
    },
    given: /^/,
    says: [{ at: /^/, words: /^not signed|^about/ }],
  };
}

export const wordRows: Verifier[] = [
  word("Hire", { hire, escrow }, (it) => hireTypedData(it.hire, it.escrow)),
  word("Release", { hire, escrow }, (it) => releaseTypedData(escrowId(it.hire, it.escrow), it.escrow)),
  word("Split", { hire, escrow, toSeller: 7n }, (it) =>
    splitTypedData(escrowId(it.hire, it.escrow), it.toSeller, it.escrow),
  ),
  word("Refund", { hire, escrow, signer: buyerId }, (it) =>
    refundTypedData(escrowId(it.hire, it.escrow), it.signer, it.escrow),
  ),
  word("MarkDelivered", { hire, escrow, resultHash: hash("3c") }, (it) =>
    markDeliveredTypedData(escrowId(it.hire, it.escrow), it.escrow, it.resultHash),
  ),
  word("TransferWithAuthorization", { authorization, token }, (it) =>
    transferWithAuthorizationTypedData(it.authorization, it.token),
  ),
  word("ReceiveWithAuthorization", { authorization, token }, (it) =>
    receiveWithAuthorizationTypedData(it.authorization, it.token),
  ),
  word("Permit", { permit, token }, (it) => permitTypedData(it.permit, it.token)),
  word(
    "Anchor",
    { anchor: { ledgerId: hash("4d"), seq: 2n, newSize: 7n, newRoot: hash("5e") }, ledger },
    (it) => anchorTypedData(it.anchor, it.ledger),
  ),
  word("Head", { head: { ledgerId: hash("4d"), size: 7n, root: hash("5e") }, ledger }, (it) =>
    headTypedData(it.head, it.ledger),
  ),
  {
    name: "checkQuote",
    input: async () => {
      const about = {
        seller: sellerId,
        buyer: buyerId,
        capability: "custom.drawing",
        params: { size: 3, of: ["a"] },
      };
      const terms = {
        ...about,
        price: 250_000n,
        estimatedLatencyMs: 900,
        expiresAt: NOW + 1,
        round: "0x0102030405060708",
      };
      return { token: await signQuote(terms as never, { account: seller }), about, now: NOW };
    },
    judge: (it: { token: string; about: never; now: number }) => {
      const answer = checkQuote(it.token, it.about, it.now);
      return "problem" in answer ? answer.problem : undefined;
    },
    given: /^(?!about\.params\.)/,
    says: [
      { at: /^token$/, words: /^(?:unknown|tampered)_quote$/ },
      { at: /^about/, words: /^tampered_quote$/ },
      { at: /^now$/, words: /^expired_quote$/ },
    ],
    taken: [{ at: /^now one less/, why: EARLIER }],
  },
  {
    name: "verifySettlementToken",
    input: () => {
      const action = {
        type: "terminal",
        program: "git",
        args: ["log", "-1"],
        cwd: "/home/agent",
        env: { LANG: "C" },
      };
      const claims = {
        version: 1,
        origin: "tallystick.test/verifiers",
        action_hash: actionHash(readAction(action)),
        context_hash: "1".repeat(64),
        entry_hash: "2".repeat(64),
        parent_hash: "3".repeat(64),
        rule: "programs",
        issued_at: NOW - 1,
        expires_at: NOW + 1,
      } as const;
      return {
        token: issueSettlementToken(claims, (message) => ed25519.sign(message, SEED)),
        action,
        publicKey: ed25519.getPublicKey(SEED),
        origin: claims.origin,
        now: NOW,
      };
    },
    judge: (input: never) => {
      const verdict = verifySettlementToken(input);
      return verdict.valid ? undefined : verdict.reason;
    },
    given: /^(?!token|action)/,
    says: [
      { at: /^token$/, words: /token|signed/ },
      { at: /^action/, words: /action/ },
      { at: /^publicKey$/, words: /signed/ },
      { at: /^origin$/, words: /of another ledger/ },
      { at: /^now$/, words: /has expired/ },
    ],
    taken: [{ at: /^now one less/, why: EARLIER }],
  },
  {
    name: "a budget token",
    input: async () => ({
      budget_token: await signBudgetToken(
        {
          agent_id: buyerId,
          max_amount_usdc: "5.00",
          max_duration_seconds: 1,
          issued_at: NOW,
          purpose: "tests",
        },
        { account: seller },
      ),
      operator: sellerId,
      agent: buyerId,
      now: NOW,
    }),
    judge: (it: { budget_token: unknown; operator: Address; agent: Address; now: number }) => {
      const terms = readBudgetToken(it.budget_token);
      if (terms.operator !== it.operator) return `operator: budget_token is signed by ${terms.operator}`;
      requireBudgetToken(terms, it.agent, it.now);
      return undefined;
    },
    given: /^(?!budget_token)/,
    says: [{ at: /^/, words: /budget_token/ }],
  },
  {
    name: "readHireRequest",
    input: async () => ({
      request: await signHireRequest(
        {
          protocol: "swarmwage/v0.3",
          buyer_id: buyerId,
          seller_id: sellerId,
          capability: "text.summarize",
          params: { text: "a text", half: 0.5, list: [1, 2] },
          max_price_usdc: "0.50",
          max_latency_ms: 1000,
          preferred_payment_mode: "direct",
          callback_url: "https://buyer.example/callback",
          nonce: `0x${"ab".repeat(16)}`,
          issued_at: NOW,
        },
        { account: buyer },
      ),
      seller: sellerId,
    }),
    judge: (it: { request: unknown; seller: Address }) =>
      readHireRequest(it.request, it.seller).signed ? undefined : "signature: is none",
    given: /^(?:$|seller$)/,
    says: [
      { at: /^request/, words: /signature/ },
      { at: /^request$/, words: /JSON object/ },
      { at: /^seller$/, words: /seller_id/ },
    ],
  },
  {
    name: "readClarifyRequest",
    input: () =>
      signClarifyRequest(
        {
          buyer_id: buyerId,
          capability: "custom.drawing",
          brief: "a cat",
          params: { size: 3, half: 0.5 },
          max_price_usdc: "0.50",
          max_latency_ms: 1000,
          nonce: `0x${"ab".repeat(16)}`,
        },
        { account: buyer },
      ),
    judge: (request: unknown) => (readClarifyRequest(request).signed ? undefined : "signature: is none"),
    says: [{ at: /^/, words: /signature/ }],
  },
  {
    name: "readCallback",
    input: async () => ({
      body: await signCallback(
        { job_id: "job-1", status: "failed", error: { code: "failed", message: "no" } },
        seller,
      ),
      seller: sellerId,
    }),
    judge: (it: { body: unknown; seller: Address }) => {
      readCallback(it.body, it.seller);
    },
    given: /^(?:$|seller$)/,
    says: [
      { at: /^/, words: /signature/ },
      { at: /^body$/, words: /job_id/ },
    ],
  },
  {
    name: "the receipt of a delivery",
    input: async () => {
      const expected = {
        seller: sellerId,
        buyer: buyerId,
        capability: "text.summarize",
        hireId: hash("6f"),
        amount: 500_000n,
      };
      const body = {
        agent_id: sellerId,
        buyer: buyerId,
        capability: expected.capability,
        hire_id: expected.hireId,
        tx_hash: hash("7a"),
        amount_usdc_atomic: "500000",
        network: "eip155:8453",
        completed_at: NOW,
        protocol_version: "swarmwage/v0.3",
        verification: { all_passed: true, checks: {} },
      };
      return {
        signed: { body, signer: sellerId, signature: await signBody(body, { account: seller }) },
        expected,
      };
    },
    judge: ({ signed, expected }: { signed: unknown; expected: ExpectedReceipt }) => {
      const answer = {
        protocol: "swarmwage/v0.3",
        receipt: {
          receipt_id: "one",
          buyer_id: buyerId,
          seller_id: sellerId,
          capability: "text.summarize",
          tx_hash: hash("7a"),
          price_paid_usdc: "0.50",
          payment_mode: "direct",
          escrow_provider: null,
          completed_at: NOW,
        },
        result: {},
        verification: { checks: [], all_passed: true },
        rating_token: null,
        signed_receipt: signed,
      };
      const delivery = readDelivery({ status: 200, headers: new Headers(), body: answer }, expected);
      if (delivery === undefined) return "signed: is none";
      return delivery.receiptIssues.length === 0 ? undefined : delivery.receiptIssues.join("; ");
    },
    given: /^(?:$|expected)/,
    says: [
      { at: /^signed/, words: /signature|signer|^signed/ },
      { at: /^expected\.seller$/, words: /agent_id/ },
      { at: /^expected\.hireId$/, words: /hire_id/ },
      { at: /^signed$/, words: /receipt/ },
    ],
    taken: [
      {
        at: /^signed with one more/,
        why: "fields next to the signed body are not signed, and are dropped",
      },
    ],
  },
];
