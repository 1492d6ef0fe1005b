import { createRequire } from "node:module";
import type { FacilitatorClient } from "@x402/core/server";
import { expect } from "chai";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import { parseUsdc } from "tallystick-protocol/amount";
import { transferWithAuthorizationTypedData } from "tallystick-protocol/escrow/authorization";
import type { Hex } from "tallystick-protocol/hex";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { ChainError } from "tallystick-sdk/errors";
import { findPaymentOnChain } from "tallystick-sdk/seller/findPayment";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { type Abi, concat, encodeFunctionData, encodePacked, size } from "viem";
import { lengthenWaits } from "./support/lengthenWaits.ts";
import { MEAN, mean } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";
import { useMarket } from "./support/useMarket.ts";

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const PRICE = parseUsdc("0.05");
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };
const LIMIT = 1_000_000n;
const ALWAYS = { validAfter: 0n, validBefore: 2n ** 40n };

describe("a payment, which only the chain can prove,", () => {
  const { chain, market } = useMarket();

  const client = () => chain.client as never;
  /** The same contracts on another chain, on which nobody has paid, and long after every payment has expired. */
  const elsewhere = () =>
    ({
      ...chain.client,
      getChainId: async () => 1,
      readContract: async () => false,
      getBlock: async () => ({ timestamp: 2n ** 40n }),
    }) as never;
  /** A facilitator that reports a settlement without settling. */
  const liar: FacilitatorClient = {
    verify: async () => ({ isValid: true }),
    settle: async () => ({ success: true, transaction: `0x${"ab".repeat(32)}`, network: "eip155:31337" }),
    getSupported: () => chain.facilitator.getSupported(),
  };

  /** Sends several calls of the token in one transaction, through Safe's contract MultiSendCallOnly. */
  async function sendAtOnce(calls: Hex[]): Promise<Hex> {
    const { sender } = chain;
    const { abi, bytecode } = createRequire(import.meta.url)(
      "@safe-global/safe-smart-account/build/artifacts/contracts/libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json",
    ) as { abi: Abi; bytecode: Hex };
    const deployed = await chain.client.deployContract({ chain: null, abi, args: [], bytecode });
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash: deployed });
    const packed = calls.map((data) =>
      encodePacked(
        ["uint8", "address", "uint256", "uint256", "bytes"],
        [0, chain.token, 0n, BigInt(size(data)), data],
      ),
    );
    const { transactionHash } = await sender.sendAndWait({
      address: contractAddress as Address,
      abi,
      functionName: "multiSend",
      args: [concat(packed)],
    });
    return transactionHash;
  }

  it("is reported as authorized by a buyer without a client, and counts as spent in its budget", async () => {
    await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const budget = memoryBudget(LIMIT);
    const journal = memoryStore();
    const buyer = await market.openBuyer({ budget, journal, client: undefined as never });
    expect(await buyer.hire(ORDER)).to.include({ money: "authorized", amount: PRICE });
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
    expect(await journal.keys("hire")).to.deep.equal([]);
  });

  it("is paid only after the required number of confirmations", async () => {
    await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const budget = memoryBudget(LIMIT);
    const buyer = await market.openBuyer({ budget, confirmations: 4 });
    expect(await buyer.hire(ORDER)).to.include({ money: "authorized" });
    expect((await buyer.resume())[0]).to.have.nested.property("hire.money", "authorized");
    await chain.client.mine({ blocks: 3 });
    expect((await buyer.resume())[0]).to.have.nested.property("hire.money", "paid");
    expect(await buyer.resume()).to.deep.equal([]);
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
  });

  it("is not called unused by an RPC of another chain, and a buyer with such an RPC pays nobody", async () => {
    const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const [budget, journal] = [memoryBudget(LIMIT), memoryStore()];
    const { wallet, hire } = await market.openBuyer({ budget, journal, confirmations: 4 });
    expect(await hire(ORDER)).to.include({ money: "authorized" });
    const again = { account: wallet.account, budget, journal };
    const wrong = await market.openBuyer({ ...again, client: elsewhere() });
    market.hosts[seller.host] = { request: () => new Response("gone", { status: 404 }) };
    expect((await wrong.resume())[0]).to.include({ isOver: false, money: "authorized" });
    market.hosts[seller.host] = seller.direct;
    const refused = await rejection(wrong.hire({ ...ORDER, idempotencyKey: "another" }));
    expect(refused).to.include({ code: "wrong_chain", field: "client" });
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
    const [resumed] = await (await market.openBuyer(again)).resume();
    expect(resumed).to.have.nested.property("hire.money", "paid");
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
  });

  it("is made in time if the RPC does not name its chain until the work is done", async () => {
    await market.openSeller({
      listings: [LISTING],
      handlers: {
        [MEAN]: (params: { [key: string]: unknown }) => {
          chainId.resolve(chain.network.chainId);
          return mean(params);
        },
      },
    });
    const chainId = Promise.withResolvers<number>();
    const silent = { ...chain.client, getChainId: () => chainId.promise } as never;
    const buyer = await market.openBuyer({ client: silent });
    const restore = lengthenWaits(2_000);
    const lengthened = globalThis.setTimeout;
    // A wait for a quarter of the time that is left ends at once.
    const begin = (run: () => void, ms = 0, ...rest: never[]) =>
      lengthened(run, ms > 4_000 && ms <= 10_000 && !Number.isInteger(ms) ? 0 : ms, ...rest);
    globalThis.setTimeout = Object.assign(begin, lengthened) as typeof lengthened;
    try {
      const hired = await buyer.hire({ ...ORDER, maxLatencyMs: 40_000 });
      expect(hired.result).to.deep.equal({ result: 3 });
    } finally {
      chainId.resolve(chain.network.chainId);
      restore();
    }
  });

  it("gets no delivery from a seller with a client while the chain does not show it, whatever the facilitator says", async () => {
    const seller = await market.openSeller({
      listings: [LISTING],
      handlers: { [MEAN]: mean },
      facilitator: liar,
      client: client(),
      shownWithinMs: 300,
    });
    const buyer = await market.openBuyer();
    const caller = new AbortController();
    const hiring = rejection(buyer.hire({ ...ORDER, signal: caller.signal }));
    const { store } = seller.parameters;
    const isAsked = async () => {
      const [key] = await store.keys("job");
      return key !== undefined && (await store.get<{ stage: string }>(key))?.stage === "collecting";
    };
    while (!(await isAsked())) await new Promise((resolve) => setTimeout(resolve, 20));
    await seller.close();
    caller.abort();
    const error = await hiring;
    expect(error.message).not.to.contain("result");
    expect(error).to.include({ money: "authorized" });
    const [key] = await store.keys("job");
    expect(await store.get(key ?? "")).to.include({ stage: "collecting" });
    expect(await store.keys("outbox")).to.deep.equal([]);
  });

  it("is awaited by the seller if the facilitator has sent it but it is not mined yet", async () => {
    let asked = 0;
    const slow: FacilitatorClient = {
      ...liar,
      settle: async (payload, requirements) =>
        asked++ === 0
          ? {
              ...{ success: false, errorReason: "settlement_pending", network: "eip155:31337" },
              transaction: `0x${"ab".repeat(32)}`,
            }
          : await chain.facilitator.settle(payload, requirements),
    };
    const seller = await market.openSeller({
      listings: [LISTING],
      handlers: { [MEAN]: mean },
      facilitator: slow,
      client: client(),
      shownWithinMs: 0,
    });
    const buyer = await market.openBuyer();
    expect(await buyer.hire(ORDER)).to.include({ money: "paid" });
    expect(asked).to.equal(2);
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
  });

  it("is found by the seller many block ranges back, and a used payment is never reported as missing", async () => {
    const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const buyer = await market.openBuyer();
    const { hireId: nonce, tx } = await buyer.hire(ORDER);
    const payment = { payer: buyer.address, nonce, payee: seller.address, value: PRICE };
    await chain.client.mine({ blocks: 9 });
    const find = (windows: number) => findPaymentOnChain(client(), chain.network, { window: 3n, windows });
    expect(await find(4)(payment)).to.equal(tx);
    expect(await rejection(find(2)(payment))).to.be.instanceOf(ChainError);
    const spent = { code: "authorization_spent" };
    expect(await rejection(find(4)({ ...payment, payee: newWallet().address }))).to.include(spent);
    expect(await rejection(find(4)({ ...payment, value: PRICE + 1n }))).to.include(spent);
    expect(await find(4)({ ...payment, nonce: `0x${"12".repeat(32)}` })).to.equal(undefined);
  });

  it("is not called expired by a seller whose RPC is of another chain", async () => {
    const nonce: Hex = `0x${"0d".repeat(32)}`;
    const payment = { payer: newWallet().address, nonce, payee: newWallet().address, value: PRICE };
    const find = findPaymentOnChain(elsewhere(), chain.network);
    expect(await rejection(find({ ...payment, validBefore: 1 }))).to.include({ code: "wrong_chain" });
  });

  it("is not asked for by a seller whose RPC is of another chain, and taken if this RPC does not answer", async () => {
    let settled = 0;
    const facilitator: FacilitatorClient = {
      ...chain.facilitator,
      settle: (...given) => {
        settled++;
        return chain.facilitator.settle(...given);
      },
    };
    const listings = [LISTING];
    const seller = { listings, handlers: { [MEAN]: mean }, facilitator };
    await market.openSeller({ ...seller, client: elsewhere() });
    const error = await rejection((await market.openBuyer()).hire(ORDER));
    expect(error).to.have.nested.property("words.code", "wrong_chain");
    expect(error, "the buyer has signed nothing").to.include({ money: "none" });
    expect(settled).to.equal(0);
    market.offers.length = 0;
    let asked = 0;
    const getChainId = async () => {
      if (asked++ === 0) throw new Error("no answer");
      return chain.network.chainId;
    };
    await market.openSeller({ ...seller, client: { ...chain.client, getChainId } as never });
    expect(await (await market.openBuyer()).hire(ORDER)).to.include({ money: "paid" });
  });

  it("is not proved by a transfer of another authorization in the same transaction", async () => {
    const [buyer, seller, other] = [newWallet(), newWallet(), newWallet()];
    await chain.mint(buyer, 3n * PRICE);
    const domain = { ...chain.network, token: chain.token };
    /** The call with which anybody can send an authorization of the buyer. */
    const callOf = async (nonce: Hex, to: Address) => {
      const authorization = { from: buyer.address, to, value: PRICE, nonce, ...ALWAYS };
      const typedData = transferWithAuthorizationTypedData(authorization, domain);
      const signature = await buyer.account.signTypedData(typedData);
      const { from, value, validAfter, validBefore } = authorization;
      const args = [from, to, value, validAfter, validBefore, nonce, signature] as const;
      return encodeFunctionData({ abi: testUsdcAbi, functionName: "transferWithAuthorization", args });
    };
    const nonces = ["0a", "0b", "0c"].map((byte): Hex => `0x${byte.repeat(32)}`) as [Hex, Hex, Hex];
    const [first, second, third] = nonces;
    const hash = await sendAtOnce([
      await callOf(first, other.address),
      await callOf(second, seller.address),
      await callOf(third, other.address),
    ]);
    const find = (nonce: Hex) =>
      findPaymentOnChain(
        client(),
        chain.network,
      )({ payer: buyer.address, nonce, payee: seller.address, value: PRICE });
    expect(await find(second)).to.equal(hash);
    for (const nonce of [first, third])
      expect(await rejection(find(nonce))).to.include({ code: "authorization_spent" });
  });
  it("comes back to the buyer's budget when it expires unused, even if the facilitator reports a settlement", async () => {
    await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean }, facilitator: liar });
    const budget = memoryBudget(LIMIT);
    const buyer = await market.openBuyer({ budget });
    const hired = await buyer.hire(ORDER);
    expect(hired).to.include({ money: "authorized" });
    expect(hired.result).to.deep.equal({ result: 3 });
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
    await chain.passTo((await chain.now()) + 1_000);
    expect((await buyer.resume())[0]).to.have.nested.property("hire.money", "authorized");
    market.hosts = Object.assign(market.hosts, {
      "seller0.test": { request: () => new Response("gone", { status: 404 }) },
    });
    const [over] = await buyer.resume();
    expect(over).to.include({ money: "none", isOver: true });
    expect(await budget.remaining()).to.equal(LIMIT);
    expect(await buyer.resume()).to.deep.equal([]);
  });
});
