import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { TypedDataEncoder, ZeroAddress, ZeroHash } from "ethers";
import { isCompiled } from "../../scripts/deploy/checkDeployment.ts";
import { openSupervisor, type Supervisor } from "../../scripts/processes/openSupervisor.ts";
import { builtContracts } from "../../tools/testing/builtContracts.ts";
import { BATCH_GAS, GAS_EACH } from "../contracts/support/batch.ts";
import { type ForkedChain, forkChain } from "./support/forkedChain.ts";
import { confirm, openSafe } from "./support/forkedSafe.ts";
import { AMOUNT, FEE, type ForkedWorld, newForkedWorld, STATUS } from "./support/forkedWorld.ts";
import { type ForkSettings, readForkSettings } from "./support/forkSettings.ts";
import { impersonate } from "./support/fundBuyer.ts";
import { readLedgerHistory } from "./support/ledgerHistory.ts";
import { startLiveDeployment } from "./support/liveDeployment.ts";
import { delegate, signBySafe } from "./support/smartWallet.ts";

const DAY = 86_400n;

/**
 * With FORK_URL these tests run on a fork of that chain, with the escrow and the ledger that the settings name. If the
 * settings name no escrow, the tests deploy one with that chain's USDC and Safe. Without FORK_URL the tests run on a fork
 * of a local node. They deploy our contracts to the local node as to a live chain.
 */
describe("HireEscrow on a fork", function () {
  this.timeout(180_000);
  let supervisor: Supervisor | undefined;
  let folder: string | undefined;
  let settings: ForkSettings;
  let fork: ForkedChain;
  let world: ForkedWorld;

  const enter = () => newForkedWorld(fork, settings);

  before(async () => {
    const given = readForkSettings(process.env);
    if (given === undefined) {
      await builtContracts();
      folder = await mkdtemp(path.join(tmpdir(), "tallystick-fork-"));
      supervisor = await openSupervisor();
      settings = await startLiveDeployment(supervisor, folder);
    } else {
      settings = given;
    }
    fork = await forkChain(settings);
  });
  after(async () => {
    await fork?.connection.close();
    await supervisor?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    world = await fork.networkHelpers.loadFixture(enter);
  });

  it("runs the compiled code of this repository", async () => {
    const code = await fork.ethers.provider.getCode(world.escrowAddress);
    expect(isCompiled("HireEscrow", code as `0x${string}`)).to.equal(true);
  });

  it("uses the domain of the token's signatures", async () => {
    const separator = await world.token.getFunction("DOMAIN_SEPARATOR")();
    expect(TypedDataEncoder.hashDomain(world.tokenDomain)).to.equal(separator);
  });

  it("holds exactly the amount of a deposit by allowance, by authorization and by permit", async () => {
    const { escrow, escrowAddress, buyer, stranger, hire, held, moved, sign, signPermit, status, token } =
      world;
    const [byAllowance, byPermit] = [await hire(), await hire()];
    expect(
      await moved([buyer, escrowAddress], () => escrow.connect(buyer).deposit(byAllowance)),
    ).to.deep.equal([-AMOUNT, AMOUNT]);

    let byAuthorization = byAllowance;
    expect(
      await moved([buyer, escrowAddress], async () => {
        byAuthorization = await held();
      }),
    ).to.deep.equal([-AMOUNT, AMOUNT]);

    // The allowance is zero, so only the permit allows the transfer.
    await (token.connect(buyer) as typeof token).getFunction("approve")(escrowAddress, 0n);
    const permit = await signPermit(byPermit);
    const signature = await sign(buyer, "Hire", byPermit);
    expect(
      await moved([buyer, escrowAddress], () =>
        escrow.connect(stranger).depositWithPermit(byPermit, AMOUNT, byPermit.deadline, permit, signature),
      ),
    ).to.deep.equal([-AMOUNT, AMOUNT]);
    for (const terms of [byAllowance, byAuthorization, byPermit])
      expect(await status(terms)).to.equal(STATUS.Held);
  });

  it("pays payee and fee when the buyer releases, even if a stranger sends the release after the deadline", async () => {
    const { escrow, escrowAddress, buyer, stranger, payee, feeRecipient, held, idOf, moved, sign, status } =
      world;
    const terms = await held();
    await fork.networkHelpers.time.increaseTo(terms.deadline + 1n);
    const signature = await sign(buyer, "Release", { escrowId: idOf(terms) });
    expect(
      await moved([escrowAddress, payee, feeRecipient], () =>
        escrow.connect(stranger).release(terms, signature),
      ),
    ).to.deep.equal([-AMOUNT, AMOUNT - FEE, FEE]);
    expect(await status(terms)).to.equal(STATUS.Released);
  });

  it("releases the items of a batch that the buyer signed, and no other item", async () => {
    const { escrow, buyer, seller, stranger, payee, held, idOf, moved, sign, status } = world;
    const [first, second] = [await held(), await held()];
    const signatures = [
      await sign(buyer, "Release", { escrowId: idOf(first) }),
      await sign(seller, "Release", { escrowId: idOf(second) }),
    ];
    const releases = [first, second].map((hire, i) =>
      escrow.interface.encodeFunctionData("release", [hire, signatures[i] as string]),
    );
    expect(
      await moved([payee], () => escrow.connect(stranger).batch(releases, GAS_EACH, BATCH_GAS)),
    ).to.deep.equal([AMOUNT - FEE]);
    expect([await status(first), await status(second)]).to.deep.equal([STATUS.Released, STATUS.Held]);
  });

  it("splits the amount as the buyer says, and rounds the fee's share down", async () => {
    const { escrow, escrowAddress, buyer, payee, feeRecipient, held, moved, status } = world;
    const terms = await held();
    const toSeller = 200_001n;
    const fee = (FEE * toSeller) / AMOUNT;
    expect(
      await moved([escrowAddress, payee, feeRecipient, buyer], () =>
        escrow.connect(buyer).split(terms, toSeller, "0x"),
      ),
    ).to.deep.equal([-AMOUNT, toSeller - fee, fee, AMOUNT - toSeller]);
    expect(await status(terms)).to.equal(STATUS.Split);
  });

  it("refunds the whole amount by the word of the buyer, the seller or the arbiter, and refuses a stranger", async () => {
    const { escrow, escrowAddress, buyer, seller, arbiter, stranger, held, idOf, moved, sign, status } =
      world;
    for (const party of [buyer, seller, arbiter]) {
      const terms = await held();
      const refuse = escrow.connect(stranger).refund(terms, stranger.address, "0x");
      await expect(refuse).to.be.revertedWithCustomError(escrow, "NotAParty");
      const signature = await sign(party, "Refund", { escrowId: idOf(terms), signer: party.address });
      expect(
        await moved([escrowAddress, buyer], () =>
          escrow.connect(stranger).refund(terms, party.address, signature),
        ),
      ).to.deep.equal([-AMOUNT, AMOUNT]);
      expect(await status(terms)).to.equal(STATUS.Refunded);
    }
  });

  it("refunds the whole amount for any caller from the deadline on, with or without a marked delivery", async () => {
    const { escrow, escrowAddress, buyer, seller, stranger, held, moved, status } = world;
    const [terms, delivered] = [await held(), await held()];
    await escrow.connect(seller).markDelivered(delivered, ZeroHash, "0x");
    await expect(escrow.connect(stranger).timeoutRefund(terms)).to.be.revertedWithCustomError(
      escrow,
      "DeadlineNotReached",
    );
    await fork.networkHelpers.time.increaseTo(delivered.deadline);
    const timeouts = [terms, delivered].map((it) =>
      escrow.interface.encodeFunctionData("timeoutRefund", [it]),
    );
    const both = await moved([escrowAddress, buyer], () =>
      escrow.connect(stranger).batch(timeouts, GAS_EACH, BATCH_GAS),
    );
    expect(both).to.deep.equal([-2n * AMOUNT, 2n * AMOUNT]);
    expect([await status(terms), await status(delivered)]).to.deep.equal([STATUS.TimedOut, STATUS.TimedOut]);
  });

  it("lets two owners of the Safe stop deposits, refuses this to one owner alone, and always allows payments", async function () {
    const { escrow, escrowAddress, safe, owners, buyer, hire, held, status } = world;
    if (safe === undefined) return skip(this, "its guardian is not a Safe that needs two confirmations");
    const terms = await held();
    const pause = escrow.interface.encodeFunctionData("pause", [DAY]);
    await expect(confirm(safe, escrowAddress, pause, [owners[0]])).to.revert(fork.ethers);
    await confirm(safe, escrowAddress, pause, [owners[0], owners[2]]);
    const later = await hire({ deadline: terms.deadline + 10n * DAY });
    await expect(escrow.connect(buyer).deposit(later)).to.be.revertedWithCustomError(
      escrow,
      "DepositsPaused",
    );
    await escrow.connect(buyer).release(terms, "0x");
    expect(await status(terms)).to.equal(STATUS.Released);
    await fork.networkHelpers.time.increaseTo(await escrow.pausedUntil());
    await escrow.connect(buyer).deposit(later);
    expect(await status(later)).to.equal(STATUS.Held);
  });

  it("uses with this chain's token at most 0.88 of the gas that AuthCaptureEscrow uses with Circle's token", async () => {
    const { escrow, buyer, held } = world;
    const plain = { fee: 0n, feeRecipient: ZeroAddress, payee: ZeroAddress, arbiter: ZeroAddress };
    const gasOfLast = async () => {
      const block = await fork.ethers.provider.getBlock("latest");
      const receipt = await fork.ethers.provider.getTransactionReceipt(block?.transactions[0] as string);
      return Number(receipt?.gasUsed);
    };
    // After this, escrow and seller have tokens. So no payment writes to an empty storage slot.
    await held(plain);
    await escrow.connect(buyer).release(await held(plain), "0x");
    const terms = await held(plain);
    const deposit = await gasOfLast();
    await escrow.connect(buyer).release(terms, "0x");
    const release = await gasOfLast();
    console.log(`      depositWithAuthorization ${deposit} + release ${release} = ${deposit + release} gas`);
    expect(deposit + release).to.be.within(100_000, 186_400);
  });

  it("pays a barred payee as soon as the token allows it again", async function () {
    const { escrow, buyer, stranger, payee, held, moved, bar } = world;
    const terms = await held();
    const due = AMOUNT - FEE;
    if (!(await bar(payee.address, true))) return skip(this, "its token has no denylist");
    expect(await moved([payee], () => escrow.connect(buyer).release(terms, "0x"))).to.deep.equal([0n]);
    expect(await escrow.credit(payee.address)).to.equal(due);
    await bar(payee.address, false);
    const later = await moved([payee], () => escrow.connect(stranger).withdraw(payee.address));
    expect(later).to.deep.equal([due]);
  });

  it("settles hires and refuses deposits while the token is paused, and pays after the pause", async function () {
    const { escrow, buyer, stranger, payee, feeRecipient, hire, held, moved, stop, status } = world;
    const terms = await held();
    const parties = [payee, feeRecipient];
    if (!(await stop(true))) return skip(this, "its token has no pauser");
    await expect(escrow.connect(buyer).deposit(await hire())).to.revert(fork.ethers);
    const paid = await moved(parties, () => escrow.connect(buyer).release(terms, "0x"));
    expect(paid).to.deep.equal([0n, 0n]);
    expect(await status(terms)).to.equal(STATUS.Released);
    await stop(false);
    const later = await moved(parties, async () => {
      for (const { address } of parties) await escrow.connect(stranger).withdraw(address);
    });
    expect(later).to.deep.equal([AMOUNT - FEE, FEE]);
  });

  it("accepts the signatures of a Safe for the token and for the escrow, and the Safe's own call", async () => {
    const { escrow, escrowAddress, token, tokenAddress, owners, payee, stranger } = world;
    const { authorization, hire, idOf, moved, status, typed } = world;
    const safe = await openSafe(
      fork,
      owners.toReversed().map(({ address }) => address),
      stranger,
    );
    const wallet = await safe.getAddress();
    const two = [owners[0], owners[1]];
    await (token.connect(world.buyer) as typeof token).getFunction("transfer")(wallet, 2n * AMOUNT);
    const [first, second] = [await hire({ buyer: wallet }), await hire({ buyer: wallet })];
    for (const terms of [first, second]) {
      const signature = await signBySafe(safe, fork.chainId, two, authorization(terms));
      const deposit = () =>
        escrow.connect(stranger).depositWithAuthorization(terms, 0n, terms.deadline, signature);
      expect(await moved([wallet, escrowAddress], deposit)).to.deep.equal([-AMOUNT, AMOUNT]);
    }

    const word = typed("Release", { escrowId: idOf(first) });
    const byOne = await signBySafe(safe, fork.chainId, [owners[0]], word);
    await expect(escrow.connect(stranger).release(first, byOne)).to.be.revertedWithCustomError(
      escrow,
      "InvalidSignature",
    );
    const byTwo = await signBySafe(safe, fork.chainId, two, word);
    const released = await moved([payee], () => escrow.connect(stranger).release(first, byTwo));
    expect(released).to.deep.equal([AMOUNT - FEE]);

    const refund = escrow.interface.encodeFunctionData("refund", [second, wallet, "0x"]);
    expect(await moved([wallet], () => confirm(safe, escrowAddress, refund, two))).to.deep.equal([AMOUNT]);
    expect(await status(second)).to.equal(STATUS.Refunded);
    expect(tokenAddress).to.equal((await escrow.token()).toLowerCase());
  });

  it("accepts calls and signatures of a key whose account has code (EIP-7702)", async () => {
    const { escrow, escrowAddress, buyer, seller, payee, stranger, hire, idOf, moved, sign, status } = world;
    // This code has no function that checks signatures. So only the account's key can sign.
    for (const account of [buyer, seller]) await delegate(fork, account, escrowAddress, stranger);
    const terms = await hire();
    await escrow.connect(buyer).deposit(terms);
    const delivered = await sign(seller, "MarkDelivered", { escrowId: idOf(terms), resultHash: ZeroHash });
    await escrow.connect(stranger).markDelivered(terms, ZeroHash, delivered);
    const signature = await sign(buyer, "Release", { escrowId: idOf(terms) });
    const paid = await moved([payee], () => escrow.connect(stranger).release(terms, signature));
    expect(paid).to.deep.equal([AMOUNT - FEE]);
    expect(await status(terms)).to.equal(STATUS.Released);
  });

  it("is deployed by the tests if the settings name no escrow", async () => {
    const { escrow: _, ...rest } = settings;
    const own = await newForkedWorld(fork, { ...rest, token: world.tokenAddress });
    expect(own.escrowAddress).not.to.equal(world.escrowAddress);
    const terms = await own.held();
    await own.escrow.connect(own.buyer).release(terms, "0x");
    expect(await own.status(terms)).to.equal(STATUS.Released);
  });

  describe("with an AnchoredLedger that has a history", () => {
    it("finds all anchors in order up to the head, and lets only the writer add an anchor", async function () {
      if (settings.ledger === undefined) return skip(this, "FORK_LEDGER is not set");
      const contract = await fork.ethers.getContractAt("AnchoredLedger", settings.ledger);
      const until = BigInt(await fork.ethers.provider.getBlockNumber());
      const history = await readLedgerHistory(settings.url, settings.ledger, until);
      if (history === undefined) return skip(this, "no ledger was anchored in the searched blocks");
      const { ledgerId, anchors, whole } = history;
      console.log(`      ${anchors.length} anchors of ${ledgerId}${whole ? ", from the first one on" : ""}`);
      for (const [i, { seq, oldSize, newSize }] of anchors.entries()) {
        const before = anchors[i - 1] ?? { seq: seq - 1n, newSize: whole ? 0n : oldSize };
        expect([seq, oldSize]).to.deep.equal([before.seq + 1n, before.newSize]);
        expect(newSize >= oldSize).to.equal(true);
      }
      const { root, size, seq } = await contract.head(ledgerId);
      const last = anchors.at(-1);
      expect([last?.root, last?.newSize, last?.seq]).to.deep.equal([root, size, seq]);

      const writer = await contract.writerOf(ledgerId);
      const [, , halted] = await contract.announcedWriter(ledgerId);
      if (halted || (await contract.isEquivocated(ledgerId))) return skip(this, "the ledger is halted");
      const heartbeat = (by: string, newSize = size) =>
        impersonate(fork, by).then((signer) =>
          contract.connect(signer).anchor(ledgerId, newSize, root, [], "0x"),
        );
      await expect(heartbeat(world.stranger.address)).to.be.revertedWithCustomError(contract, "NotWriter");
      await expect(heartbeat(writer, size - 1n)).to.be.revertedWithCustomError(contract, "Inconsistent");
      await heartbeat(writer);
      expect((await contract.head(ledgerId)).seq).to.equal(seq + 1n);
    });
  });
});

/** Skips a test, and prints the reason. */
function skip(context: Mocha.Context, why: string): void {
  console.log(`      skipped: ${why}`);
  context.skip();
}
