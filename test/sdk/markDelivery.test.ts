import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { createSeller } from "tallystick-sdk/createSeller";
import { ChainError, RelayRefusedError } from "tallystick-sdk/errors";
import { toEscrowPayload } from "tallystick-sdk/escrow/escrowScheme";
import type { EscrowState } from "tallystick-sdk/escrow/readEscrowState";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import type { Job, SettlementMode } from "tallystick-sdk/seller/job";
import { PaymentInvalidError } from "tallystick-sdk/seller/sellerErrors";
import { sellerStore } from "tallystick-sdk/seller/sellerStore";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { MEAN, mean } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const network = { chainId: 31_337, token: address("70"), name: "USD Coin", version: "2" };
const away = new ChainError({ code: "chain_unreachable", message: "away" });
const refused = new ChainError({ code: "call_refused", message: "no", reason: "AlreadyDelivered" });
const NOW_S = 1_800_000_000;

describe("a seller's mark of delivery", () => {
  const seller = newWallet();

  /** Delivers a job. The mark fails so often, and the escrow is then in this state. */
  function deliver(
    { fault, faults }: { fault: Error; faults: number },
    {
      state = {},
      left = 1_000,
      isFirst = true,
      stage = "collecting",
    }: { state?: Partial<EscrowState>; left?: number; isFirst?: boolean; stage?: Job["stage"] } = {},
  ) {
    let [marks, asked] = [0, 0];
    const marked = Promise.withResolvers<void>();
    const relay = {
      markDelivered: async () => {
        if (++marks <= faults) throw fault;
        marked.resolve();
        return hash("ab");
      },
      state: async () => {
        asked++;
        // The RPC is still away at the first question after the mark.
        if (isFirst && asked === 1 && stage === "collecting" && fault !== refused) throw away;
        return { status: "held", delivered: false, amount: 1n, ...state };
      },
    };
    const mode = escrowMode({
      ...{ account: seller.account, network, escrow: address("e5"), now: () => NOW_S * 1_000 },
      relay: relay as unknown as Parameters<typeof escrowMode>[0]["relay"],
    });
    const hire: Hire = {
      ...{ hireId: hash("11"), buyer: address("b1"), seller: seller.address, payee: ZERO_ADDRESS },
      ...{ amount: 1n, fee: 0n, feeRecipient: ZERO_ADDRESS, arbiter: ZERO_ADDRESS },
      deadline: BigInt(NOW_S + left),
    };
    const authorization = { validAfter: 0n, validBefore: hire.deadline, signature: "0x12" } as const;
    const payload = { payload: toEscrowPayload({ hire, authorization }) };
    const job = { id: "job", stage, result: 1, payment: { payload } } as unknown as Job;
    return {
      collected: mode.collect(job, { isFirst }),
      marked: marked.promise,
      counts: () => ({ marks, asked }),
    };
  }

  it("is sent again while the chain cannot be reached, and the result does not wait for it", async () => {
    const job = deliver({ fault: away, faults: 1 });
    expect(await job.collected).to.deep.equal({ isMarkDue: true });
    expect(job.counts()).to.deep.equal({ marks: 1, asked: 0 });
    await job.marked;
    expect(job.counts()).to.deep.equal({ marks: 2, asked: 2 });
  });

  it("is sent by a later process only if it is missing and there is time", async () => {
    const works = { fault: away, faults: 0 };
    const missing = deliver(works, { isFirst: false, stage: "completed" });
    expect(await missing.collected).to.deep.equal({});
    expect(missing.counts()).to.deep.equal({ marks: 1, asked: 1 });
    for (const [how, asked] of [
      [{ state: { delivered: true } }, 1],
      [{ state: { status: "released" } }, 1],
      [{ left: 0 }, 0],
    ] as const) {
      const job = deliver(works, { ...how, isFirst: false, stage: "completed" });
      expect(await job.collected).to.deep.equal({});
      expect(job.counts()).to.deep.equal({ marks: 0, asked });
    }
  });

  it("shows that the buyer has ended the escrow before the delivery, so that it gets no result", async () => {
    for (const status of ["refunded", "timedOut", "split"] as const) {
      const ended = { state: { status } };
      for (const how of [ended, { ...ended, isFirst: false }]) {
        const { collected } = deliver({ fault: refused, faults: 1 }, how);
        const error = await collected.catch((cause: unknown) => cause);
        expect(error, status)
          .to.be.instanceOf(PaymentInvalidError)
          .and.include({ code: "payment_taken_back" });
      }
      // The buyer has the result of a completed job already.
      const later = deliver({ fault: refused, faults: 1 }, { ...ended, isFirst: false, stage: "completed" });
      expect(await later.collected).to.deep.equal({});
    }
    const released = deliver({ fault: refused, faults: 1 }, { state: { status: "released" } });
    expect(await released.collected).to.deep.equal({});
  });

  it("is sent again while a second is left", async () => {
    const job = deliver({ fault: away, faults: 1 }, { left: 1 });
    await job.collected;
    await job.marked;
    expect(job.counts().marks).to.equal(2);
  });

  it("is sent again after a keeper was busy, and not after a keeper does not carry such hires", async () => {
    const details = { is_temporary: true };
    const busy = new ChainError({ code: "relay_refused", message: "later", details });
    const job = deliver({ fault: busy, faults: 1 });
    expect(await job.collected).to.deep.equal({ isMarkDue: true });
    await job.marked;
    const never = new RelayRefusedError({ code: "fee_missing", message: "no", field: "hire.fee" });
    expect(await deliver({ fault: never, faults: 1 }).collected).to.deep.equal({});
  });

  it("is sent again by each start of the seller, and only if it did not get through", async () => {
    const mode = "platform_escrow:acme";
    const store = memoryStore();
    const own = sellerStore(store, seller.address);
    const jobs: Partial<Job>[] = [{ isMarkDue: true }, {}, { isMarkDue: true, mode: "platform_escrow:gone" }];
    for (const [at, changes] of jobs.entries()) {
      const id = `job_${String(at).padStart(26, "0")}`;
      await own.put(`job/${id}`, { id, mode, stage: "completed", free: false, ...changes });
    }
    const collected: [string, boolean][] = [];
    const said: string[] = [];
    const next = await createSeller({
      account: seller.account,
      endpoint: "https://seller.example",
      baseUrl: "https://node.example",
      network,
      facilitator: "https://facilitator.example",
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 1_000 }],
      handlers: { [MEAN]: mean },
      modes: {
        [mode]: {
          collect: async ({ id }, { isFirst }) => {
            collected.push([id, isFirst]);
            return {};
          },
        } as SettlementMode,
      },
      store,
      log: (sentence, details) => said.push(`${sentence} ${details?.job}`),
    });
    await next.resume();
    await next.close();
    expect(collected).to.deep.equal([["job_00000000000000000000000000", false]]);
    expect(said.filter((sentence) => sentence.startsWith("Delivery"))).to.deep.equal([
      "Delivery could not be marked. job_00000000000000000000000002",
    ]);
  });

  it("is not sent again after a refusal, the deadline, another mark or the end of the escrow", async () => {
    const ended = {
      "a refusal": deliver({ fault: refused, faults: 1 }),
      "the deadline": deliver({ fault: away, faults: 1 }, { left: 0 }),
      "another mark": deliver({ fault: away, faults: 1 }, { state: { delivered: true } }),
      "the end of the escrow": deliver({ fault: away, faults: 1 }, { state: { status: "released" } }),
    };
    await Promise.all(Object.values(ended).map(({ collected }) => collected));
    // Its attempts come after those of the others.
    const last = deliver({ fault: away, faults: 1 });
    await last.marked;
    for (const [why, { counts }] of Object.entries(ended)) expect(counts().marks, why).to.equal(1);
    expect(ended["another mark"].counts().asked).to.equal(2);
    expect(ended["the end of the escrow"].counts().asked).to.equal(2);
  });
});
