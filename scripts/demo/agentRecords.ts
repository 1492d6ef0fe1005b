import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { signBody, signRecord } from "tallystick-protocol/records/record";
import type { RecordType } from "tallystick-protocol/records/recordTypes";
import { OWN_CONNECTION } from "../processes/ownConnection.ts";
import type { Actor } from "./actors.ts";
import type { DemoNode } from "./startDemoNode.ts";

/** A ledger entry as settlement returns it. */
export type Settled = { hash: string; index: number };

export type AgentRecords = ReturnType<typeof createAgentRecords>;

/** A service that an agent offers. `price` in USDC, `latency` in milliseconds. */
export type Offer = { capability: string; price: string; latency: number };

/** What a receipt says about a hire. `amount` in atomic units. */
export type ReceiptFacts = {
  seller: Actor;
  buyer: Actor;
  capability: string;
  hireId: string;
  tx: Hex;
  amount: bigint;
  passed: boolean;
  latency: number;
  /** The buyer signs it too. */
  countersigned?: boolean;
  escrow?: { id: Hex; provider: string };
};

/** Sends the agents' records to the ledger, by HTTP at a node's base URL. */
export function createAgentRecords(
  { url, ledger, deployment: { chainId } }: Pick<DemoNode, "url" | "ledger" | "deployment">,
  signal: AbortSignal,
) {
  async function post(
    path: string,
    type: "listing" | "receipt",
    body: RecordBody,
    by: Actor,
  ): Promise<Settled> {
    const record = await signRecord({ type, body, account: by.account });
    return send(path, { body: record.body, signer: record.signer, signature: record.signature }, by);
  }

  async function send(path: string, content: object, by: Actor): Promise<Settled> {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...OWN_CONNECTION },
      body: JSON.stringify(content),
      signal,
    });
    const answer = (await response.json()) as { status?: string; hash: string; index: number };
    if (response.status === 201 && answer.status === "SETTLED") return answer;
    throw new TallystickError({
      code: "demo_record_refused",
      message: `POST ${path} of ${by.name} was answered ${response.status}: ${JSON.stringify(answer)}`,
    });
  }

  return {
    /** The operator's parameters. */
    publishParams: async (by: Actor, body: RecordBody): Promise<Settled> =>
      await send("/v1/params", await signRecord({ type: "params", ledger, body, account: by.account }), by),

    /** A record of a type that has no route of its own. */
    publish: async (type: RecordType, by: Actor, body: RecordBody): Promise<Settled> =>
      await send("/v1/records", await signRecord({ type, ledger, body, account: by.account }), by),

    /** How many entries the ledger has. */
    latest: async (): Promise<{ size: number }> =>
      (await (await fetch(`${url}/v1/ledger/latest`, { headers: OWN_CONNECTION, signal })).json()) as {
        size: number;
      },

    /** Publishes an offer. */
    list: (
      seller: Actor,
      { capability, price, latency }: Offer,
      paymentMode = "direct",
      issuedAt = Math.floor(Date.now() / 1000),
    ): Promise<Settled> =>
      post(
        "/v1/listings",
        "listing",
        {
          agent_id: seller.address,
          capability,
          price_usdc: price,
          max_latency_ms: latency,
          endpoint: `https://${seller.name}.example/hire`,
          payment_mode: paymentMode,
          first_call_free: false,
          issued_at: issuedAt,
        },
        seller,
      ),

    /** The seller's receipt for a hire. */
    receipt: async (facts: ReceiptFacts): Promise<Settled> => {
      const { seller, buyer, escrow } = facts;
      const body: RecordBody = {
        agent_id: seller.address,
        buyer: buyer.address,
        capability: facts.capability,
        hire_id: facts.hireId,
        tx_hash: facts.tx,
        amount_usdc_atomic: String(facts.amount),
        network: `eip155:${chainId}`,
        completed_at: Math.floor(Date.now() / 1000),
        protocol_version: "swarmwage/v0.3",
        verification: { all_passed: facts.passed, checks: { schema: true, answered: facts.passed } },
        latency_ms: facts.latency,
        ...(escrow && {
          payment_mode: `platform_escrow:${escrow.provider}`,
          escrow_provider: escrow.provider,
          escrow_id: escrow.id,
        }),
      };
      if (facts.countersigned) body.buyer_signature = await signBody(body, { account: buyer.account });
      return await post("/v1/receipts", "receipt", body, seller);
    },
  };
}
