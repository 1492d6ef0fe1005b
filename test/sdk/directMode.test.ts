import type { FacilitatorClient } from "@x402/core/server";
import type { PaymentPayload } from "@x402/core/types";
import { expect } from "chai";
import type { Listing } from "tallystick-protocol/records/listing";
import { base } from "tallystick-sdk/chain/paymentNetwork";
import { directMode } from "tallystick-sdk/seller/directMode";
import type { Job, Offer } from "tallystick-sdk/seller/job";
import { rejection } from "./support/tamper.ts";

const [BUYER, SELLER] = [`0x${"b0".repeat(20)}`, `0x${"5e".repeat(20)}`] as const;
const AT = 1_800_000_000;
const LATENCY_SECONDS = 30;
const OFFER: Offer = {
  listing: { agent_id: SELLER, max_latency_ms: LATENCY_SECONDS * 1_000 } as Listing,
  price: 50_000n,
};
const AUTHORIZATION = {
  ...{ from: BUYER, to: SELLER, value: "50000", validAfter: "0", validBefore: String(AT + LATENCY_SECONDS) },
  nonce: `0x${"0a".repeat(32)}`,
};

describe("a seller that is paid directly", () => {
  /** The mode, and every payment that its facilitator got. */
  const open = (changes: Partial<FacilitatorClient> = {}, log: (...line: unknown[]) => void = () => {}) => {
    const got: unknown[] = [];
    const facilitator: FacilitatorClient = {
      verify: async ({ payload }) => {
        got.push(payload);
        return { isValid: true };
      },
      settle: async ({ payload }) => {
        got.push(payload);
        return { success: true, transaction: `0x${"07".repeat(32)}`, network: "eip155:8453" };
      },
      getSupported: () => expect.fail("nothing asks for it"),
      ...changes,
    };
    return { got, mode: directMode({ network: base, facilitator, log, now: () => AT * 1_000 }) };
  };
  const check = async (mode: ReturnType<typeof open>["mode"], payment: { [key: string]: unknown }) => {
    const requirements = await mode.requirements(OFFER);
    const payload: PaymentPayload = { x402Version: 2, accepted: requirements, payload: payment };
    const terms = { payload, requirements, offer: OFFER, buyer: BUYER, hireId: undefined };
    return { payload, requirements, checked: await mode.check(terms) };
  };

  it("works only for a payment that is valid as long as the work may take", async () => {
    const { got, mode } = open();
    for (const [validBefore, isTaken] of [
      [AT + LATENCY_SECONDS, true],
      [AT + LATENCY_SECONDS - 1, false],
      [AT + 7, false],
      ["soon", false],
    ] as const) {
      const authorization = { ...AUTHORIZATION, validBefore: String(validBefore) };
      const before = got.length;
      const checking = check(mode, { signature: "0x12", authorization });
      if (isTaken) expect((await checking).checked.payer).to.equal(BUYER);
      else expect(await rejection(checking)).to.include({ code: "authorization_too_short" });
      expect(got.length - before, String(validBefore)).to.equal(isTaken ? 1 : 0);
    }
  });

  it("tells the buyer a reason of x402 and nothing else that its facilitator says, which is in the log", async () => {
    const said = "POST https://facilitator.example/key-123 answered 401";
    const away = () => Promise.reject(new Error(said));
    const refuses = (invalidReason: string, invalidMessage?: string) => async () => ({
      ...{ isValid: false, invalidReason, ...(invalidMessage && { invalidMessage }) },
    });
    const fails = (errorReason: string, errorMessage?: string) => async () => ({
      ...{ success: false, transaction: "", network: "eip155:8453" as const, errorReason },
      ...(errorMessage && { errorMessage }),
    });
    const cases: [code: string, logged: number, facilitator: Partial<FacilitatorClient>][] = [
      ["facilitator_unavailable", 1, { verify: away }],
      ["facilitator_unavailable", 1, { settle: away }],
      ["insufficient_funds", 0, { verify: refuses("insufficient_funds") }],
      ["insufficient_funds", 1, { verify: refuses("insufficient_funds", said) }],
      ["invalid_payment", 1, { verify: refuses(said) }],
      ["insufficient_funds", 0, { settle: fails("insufficient_funds") }],
      ["insufficient_funds", 1, { settle: fails("insufficient_funds", said) }],
      ["settlement_failed", 1, { settle: fails(`${said}: invalid signature`) }],
    ];
    for (const [code, logged, changes] of cases) {
      const lines: unknown[][] = [];
      const { mode } = open(changes, (...line) => lines.push(line));
      const work = async () => {
        const { payload, requirements } = await check(mode, {
          signature: "0x12",
          authorization: AUTHORIZATION,
        });
        await mode.collect({ payment: { payload, requirements } } as unknown as Job, { isFirst: true });
      };
      const error = (await rejection(work())) as Error & { code: string; hint?: string };
      expect(error.code).to.equal(code);
      expect(`${error.message} ${error.hint}`).not.to.contain("key-123");
      expect(lines.filter((line) => JSON.stringify(line).includes("key-123"))).to.have.length(logged);
      expect(lines).to.have.length(logged);
    }
  });

  it("shows its facilitator no other payment than the authorization that it has checked", async () => {
    const { got, mode } = open();
    const checked = { signature: "0x12", authorization: AUTHORIZATION };
    const permit2Authorization = { from: `0x${"0c".repeat(20)}`, nonce: "1" };
    const { payload, requirements } = await check(mode, { ...checked, permit2Authorization });
    const job = { payment: { payload, requirements } } as unknown as Job;
    await mode.collect(job, { isFirst: true });
    expect(got).to.deep.equal([checked, checked]);
  });
});
