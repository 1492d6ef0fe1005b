import { expect } from "chai";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import { toEscrowPayload } from "tallystick-sdk/escrow/escrowScheme";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import type { Job, PaymentTerms } from "tallystick-sdk/seller/job";
import { createPublicClient, custom, type Hex } from "viem";
import { MOODS } from "../../tools/bench/keeper/hostileWallet.ts";
import { type KeeperWorld, openKeeperWorld, WORD } from "../../tools/bench/keeper/keeperWorld.ts";
import { newWallet, type Wallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const PRICE = 500_000n;

describe("a seller in escrow mode that gets a signature as long as a key's", () => {
  let world: KeeperWorld;
  let wallet: Address;
  let person: Wallet;
  const seller = newWallet();
  before(async function () {
    this.timeout(180_000);
    world = await openKeeperWorld();
    wallet = (await world.wallet()).address;
    person = await world.person();
  });
  after(() => world.chain.close());

  const open = (client?: object) => {
    const { network, escrow } = world.chain;
    return escrowMode({
      ...{ account: seller.account, network, escrow, relay: walletRelay(world.calls) },
      ...(client && { client: client as never, shownWithinMs: 0 }),
    });
  };
  const hireOf = (buyer: Address): Promise<Hire> =>
    world.hireOf(buyer, { seller: seller.address, amount: PRICE, fee: 0n, feeRecipient: ZERO_ADDRESS });

  /** Checks this payment, and then deposits it. */
  async function take(mode: ReturnType<typeof open>, hire: Hire, signature: Hex) {
    const offer = { listing: { max_latency_ms: 1_000 }, price: PRICE } as PaymentTerms["offer"];
    const requirements = await mode.requirements(offer);
    const authorization = { validAfter: 0n, validBefore: hire.deadline, signature };
    const payload = { accepted: requirements, payload: toEscrowPayload({ hire, authorization }) } as never;
    const hireId = hire.hireId;
    const checked = await mode.check({ payload, requirements, offer, buyer: hire.buyer, hireId });
    await mode.secure({ id: "job", payment: { payload, requirements } } as unknown as Job);
    return checked;
  }
  const sign = async (hire: Hire): Promise<Hex> =>
    (await world.signerOf(person).authorizeDeposit(hire)).signature;

  it("takes that of a contract wallet which says that it is its own", async () => {
    for (const client of [undefined, world.chain.client]) {
      const hire = await hireOf(wallet);
      expect(await take(open(client), hire, WORD)).to.include({ payer: wallet });
      expect(await world.statusOf(hire)).to.equal("held");
    }
  });

  it("refuses that of a contract wallet which says no", async () => {
    const refusing = (await world.wallet(MOODS.saysNo)).address;
    const error = await rejection(take(open(world.chain.client), await hireOf(refusing), WORD));
    expect(error).to.include({ code: "invalid_signature" });
  });

  it("takes a key's own signature, also if the chain cannot be read then", async () => {
    const hire = await hireOf(person.address);
    await take(open(), hire, await sign(hire));
    expect(await world.statusOf(hire)).to.equal("held");
    const next = await hireOf(person.address);
    const away = createPublicClient({
      transport: custom({ request: () => Promise.reject(new Error("away")) }, { retryCount: 0 }),
    });
    const mode = open(away);
    const late = await rejection(take(mode, next, await sign(next)));
    expect(late, "after the deposit").to.include({ code: "chain_unreachable" });
    expect(await world.statusOf(next)).to.equal("held");
    const other = await hireOf(wallet);
    expect(await rejection(take(mode, other, WORD))).to.include({ code: "chain_unreachable" });
    expect(await world.statusOf(other)).to.equal("none");
  });

  it("refuses that of another key, without a deposit", async () => {
    const hire = await hireOf(person.address);
    const wrong = await sign(await hireOf(person.address));
    const refused = await rejection(take(open(world.chain.client), hire, wrong));
    expect(refused).to.include({ code: "invalid_signature" });
    expect(await rejection(take(open(), hire, wrong))).to.include({ code: "deposit_refused" });
    expect(await world.statusOf(hire)).to.equal("none");
  });
});
