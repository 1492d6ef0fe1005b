import { dataSlice, id, ZeroHash } from "ethers";
import { AMOUNT, type BenchChain, FEE, gasOf } from "./chain.ts";

/** Gas by verb and way of using it. */
export type GasFigures = Record<string, number>;

export const BATCH = 50;

/** Every verb of the escrow once, with steady balances. Signatures are of keys, not of contract wallets. */
export async function measureEscrow(bench: BenchChain): Promise<GasFigures> {
  const { escrow, token, relayer, guardian, buyer, seller, payee, feeRecipient, arbiter } = bench;
  const figures: GasFigures = {};
  const named = {
    payee: payee.address,
    fee: FEE,
    feeRecipient: feeRecipient.address,
    arbiter: arbiter.address,
  };

  figures["deposit (standing allowance)"] = await gasOf(escrow.connect(buyer).deposit(bench.hire()));

  const authorized = bench.hire();
  const authorization = await bench.authorize(authorized);
  figures.depositWithAuthorization = await gasOf(
    escrow.connect(relayer).depositWithAuthorization(authorized, 0n, bench.deadline, authorization),
  );
  figures["release by the buyer"] = await gasOf(escrow.connect(buyer).release(authorized, "0x"));

  // The permit sets the allowance from nothing, and the deposit uses it up.
  await token.connect(buyer).approve(bench.escrowAddress, 0n);
  const permitted = bench.hire();
  const permit = await bench.permit();
  const word = await bench.sign(buyer, "Hire", permitted);
  figures["depositWithPermit (permit and signature)"] = await gasOf(
    escrow.connect(relayer).depositWithPermit(permitted, AMOUNT, bench.deadline, permit, word),
  );
  await token.connect(buyer).approve(bench.escrowAddress, 2n ** 256n - 1n);

  const delivered = await bench.held();
  figures["markDelivered by the seller"] = await gasOf(
    escrow.connect(seller).markDelivered(delivered, ZeroHash, "0x"),
  );
  const signedFor = await bench.held();
  const delivery = { escrowId: bench.idOf(signedFor), resultHash: ZeroHash };
  figures["markDelivered by signature"] = await gasOf(
    escrow
      .connect(relayer)
      .markDelivered(signedFor, ZeroHash, await bench.sign(seller, "MarkDelivered", delivery)),
  );
  const signedRelease = await bench.sign(buyer, "Release", { escrowId: bench.idOf(signedFor) });
  figures["release by signature"] = await gasOf(escrow.connect(relayer).release(signedFor, signedRelease));

  const withFee = await bench.held(named);
  figures["release by the buyer, to a payee, with a fee"] = await gasOf(
    escrow.connect(buyer).release(withFee, "0x"),
  );
  const divided = await bench.held(named);
  figures["split by the buyer, with a fee"] = await gasOf(
    escrow.connect(buyer).split(divided, 200_000n, "0x"),
  );

  for (const [who, signer] of [
    ["buyer", buyer],
    ["seller", seller],
    ["arbiter", arbiter],
  ] as const) {
    const hire = await bench.held(named);
    figures[`refund by the ${who}`] = await gasOf(escrow.connect(signer).refund(hire, signer.address, "0x"));
  }

  figures["pause (first)"] = await gasOf(escrow.connect(guardian).pause(3_600n));
  figures.unpause = await gasOf(escrow.connect(guardian).unpause());

  // To as many payees, each of whom holds tokens already: one payee would make a batch look cheaper than it is.
  const batch = [];
  for (let i = 0; i < BATCH + 1; i++) {
    const holder = dataSlice(id(`payee ${i}`), 12);
    await token.mint(holder, AMOUNT);
    batch.push(await bench.held({ payee: holder }));
  }
  const [first, ...rest] = batch;
  const none = rest.map(() => "0x");
  figures["releaseMany of 1"] = await gasOf(escrow.connect(buyer).releaseMany([first as never], ["0x"]));
  figures[`releaseMany of ${BATCH}`] = await gasOf(escrow.connect(buyer).releaseMany(rest, none));

  const late = [];
  for (let i = 0; i < BATCH + 2; i++) late.push(await bench.held());
  await bench.networkHelpers.time.increaseTo(bench.deadline);
  const [single, one, ...many] = late;
  figures.timeoutRefund = await gasOf(escrow.connect(relayer).timeoutRefund(single as never));
  figures["timeoutRefundMany of 1"] = await gasOf(escrow.connect(relayer).timeoutRefundMany([one as never]));
  figures[`timeoutRefundMany of ${BATCH}`] = await gasOf(escrow.connect(relayer).timeoutRefundMany(many));
  return figures;
}

/** What follows from the figures: per hire, and per item of a batch. */
export function derivedFigures(figures: GasFigures) {
  const at = (name: string) => {
    const figure = figures[name];
    if (figure === undefined) throw new Error(`not measured: ${name}`);
    return figure;
  };
  const many = at(`releaseMany of ${BATCH}`);
  return {
    /** One hire that goes well: authorization relayed, released by the buyer. */
    perHire: at("depositWithAuthorization") + at("release by the buyer"),
    /** Each of a batch of 50, all told. */
    perBatchedRelease: many / BATCH,
    /** One more in a batch. */
    marginalRelease: (many - at("releaseMany of 1")) / (BATCH - 1),
    marginalTimeout: (at(`timeoutRefundMany of ${BATCH}`) - at("timeoutRefundMany of 1")) / (BATCH - 1),
    /** Share of a single release that one in a batch costs. */
    batchShare: many / BATCH / at("release by the buyer"),
  };
}
