import { expect } from "chai";
import fc from "fast-check";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { fromHex, toHex, ZERO_HASH } from "tallystick-protocol/hex";
import { ledgerCode } from "tallystick-protocol/ledger/ledgerCode";
import { domainImmutables } from "tallystick-protocol/signatures/domainImmutables";
import type { Hex } from "viem";
import { type ActName, actsOf, type EscrowState } from "../../../portal/escrow/acts.ts";
import { type EscrowCode, releasedCode } from "../../../portal/escrow/wallet/escrowCode.ts";
import { isCirclesUsdc, knownChain } from "../../../portal/escrow/wallet/knownChains.ts";
import { networks } from "../../../scripts/deploy/networks.ts";
import { deployFrozen } from "../../../scripts/ignition/deployFrozen.ts";
import { newWorld, PROVIDER, type World } from "../../contracts/support/world.ts";
import { BUILD_TIMEOUT, freshChain } from "../../support/freshChain.ts";

describe("code that the portal recognises as a released escrow", function () {
  this.timeout(BUILD_TIMEOUT);
  let world: World;
  let frozen: { address: Hex; code: Hex };
  let ledgers: { address: Hex; code: Hex };
  const chainId = 31_337;

  before(async () => {
    const connection = await freshChain();
    world = await newWorld(connection, "TestUSDC");
    const terms = { token: world.tokenAddress, guardian: world.guardian.address, providerId: PROVIDER };
    const { hireEscrow, anchoredLedger } = await deployFrozen({ connection, ...terms });
    const deployed = async (address: string) => ({
      address: address.toLowerCase() as Hex,
      code: (await world.ethers.provider.getCode(address)) as Hex,
    });
    frozen = await deployed(hireEscrow);
    ledgers = await deployed(anchoredLedger);
  });

  it("is the code of a release, with its constructor arguments", () => {
    const expected: EscrowCode = {
      release: "HireEscrow, version 1",
      token: world.tokenAddress.toLowerCase() as Hex,
      guardian: world.guardian.address.toLowerCase() as Hex,
      providerId: PROVIDER,
      isAtItsAddress: true,
    };
    expect(releasedCode(frozen.code, { chainId, address: frozen.address })).to.deep.equal(expected);
  });

  it("does not include code with any byte changed, added or dropped", () => {
    const bytes = frozen.code.length / 2 - 1;
    const changed = (at: number, bit: number): Hex => {
      const digits = frozen.code.slice(2 + 2 * at, 4 + 2 * at);
      const other = (Number.parseInt(digits, 16) ^ (1 << bit)).toString(16).padStart(2, "0");
      return `${frozen.code.slice(0, 2 + 2 * at)}${other}${frozen.code.slice(4 + 2 * at)}` as Hex;
    };
    const check = ({ address }: { address: Hex }, code: Hex) => releasedCode(code, { chainId, address });
    fc.assert(
      fc.property(fc.nat(bytes - 1), fc.nat(7), (at, bit) => {
        const found = check(frozen, changed(at, bit));
        // With a changed argument the code may be another escrow's code. It is never the code of this escrow, and not
        // at this address.
        return found === null || !found.isAtItsAddress;
      }),
      { numRuns: 150 },
    );
    expect(check(frozen, `${frozen.code}00`)).to.equal(null);
    expect(check(frozen, frozen.code.slice(0, -2) as Hex)).to.equal(null);
    expect(check(frozen, "0x")).to.equal(null);
  });

  it("is not the code of the ledgers' contract, which is recognised only with each of its bytes and at its address", () => {
    const { address, code } = ledgers;
    expect(ledgerCode(code, { chainId, address })).to.equal("released");
    expect(ledgerCode(code, { chainId: 8_453, address })).to.equal("unknown");
    for (const other of ["0x", frozen.code, `${code}00`, code.slice(0, -2)] as Hex[])
      expect(ledgerCode(other, { chainId, address })).to.equal("unknown");
    fc.assert(
      fc.property(fc.nat(code.length / 2 - 2), fc.nat(7), (at, bit) => {
        const bytes = fromHex(code);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        return ledgerCode(toHex(bytes), { chainId, address }) === "unknown";
      }),
      { numRuns: 150 },
    );
    // A copy of the code at another address contains that address. Whoever deployed it may have written heads before.
    const elsewhere = `0x${"66".repeat(20)}` as const;
    expect(ledgerCode(code, { chainId, address: elsewhere })).to.equal("unknown");
    const copy = code.replaceAll(address.slice(2), elsewhere.slice(2)) as Hex;
    const domain = (at: Hex) =>
      toHex(
        domainImmutables({ name: "Tallystick AnchoredLedger", version: "1", chainId, address: at })
          ._cachedDomainSeparator as Uint8Array,
      ).slice(2);
    const ofCopy = copy.replaceAll(domain(address), domain(elsewhere)) as Hex;
    expect(ledgerCode(ofCopy, { chainId, address: elsewhere })).to.equal("copied");
  });

  it("does not include code that was made for another chain or another address", () => {
    expect(releasedCode(frozen.code, { chainId: 8_453, address: frozen.address })).to.equal(null);
    expect(releasedCode(frozen.code, { chainId, address: `0x${"66".repeat(20)}` })).to.equal(null);
  });

  it("is marked if it is not at the address of the release, because its constructor may be another", async () => {
    const address = world.escrowAddress.toLowerCase() as Hex;
    const code = (await world.ethers.provider.getCode(address)) as Hex;
    expect(releasedCode(code, { chainId, address })).to.include({
      isAtItsAddress: false,
      providerId: PROVIDER,
    });
  });

  it("accepts from each account exactly the actions that the portal offers to this account", async () => {
    const { escrow, buyer, seller, payee, arbiter, stranger, networkHelpers } = world;
    const names = ["markDelivered", "release", "split", "refund", "timeoutRefund"] as const;
    const compare = async (hire: Hire, status: EscrowState["status"]) => {
      const time = await networkHelpers.time.latest();
      for (const person of [buyer, seller, payee, arbiter, stranger]) {
        const account = person.address.toLowerCase();
        const acts = actsOf(hire, { status, delivered: false, time, credits: [] }, account);
        const call: { [name in (typeof names)[number]]: () => Promise<unknown> } = {
          markDelivered: () => escrow.connect(person).markDelivered.staticCall(hire, ZERO_HASH, "0x"),
          release: () => escrow.connect(person).release.staticCall(hire, "0x"),
          split: () => escrow.connect(person).split.staticCall(hire, 1n, "0x"),
          refund: () => escrow.connect(person).refund.staticCall(hire, account, "0x"),
          timeoutRefund: () => escrow.connect(person).timeoutRefund.staticCall(hire),
        };
        for (const name of names) {
          const isDone = await call[name]().then(
            () => true,
            () => false,
          );
          expect(isOpen(acts, name), `${name} when ${status}`).to.equal(isDone);
        }
      }
    };
    const held = lower(await world.held());
    await compare(held, "held");
    await world.pass(held as never);
    await compare(held, "held");
    await escrow.timeoutRefund(held);
    await compare(held, "timedOut");
    await compare(lower(await world.hire()), "none");
  });

  it("has a known token on every chain of the command line", () => {
    for (const { chainId, rpcUrl, token } of Object.values(networks)) {
      expect(knownChain(chainId)).to.include({ rpcUrl, usdc: token ?? null });
      if (token !== undefined) expect(isCirclesUsdc(chainId, token)).to.equal(true);
    }
  });
});

function isOpen(acts: ReturnType<typeof actsOf>, name: ActName): boolean {
  return acts.find((it) => it.name === name)?.isOpen === true;
}

function lower(hire: object): Hire {
  const texts = Object.entries(hire).map(([name, it]) => [
    name,
    typeof it === "string" ? it.toLowerCase() : it,
  ]);
  return Object.fromEntries(texts) as Hire;
}
