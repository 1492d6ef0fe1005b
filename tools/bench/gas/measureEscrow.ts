import { dataSlice, id, ZeroHash } from "ethers";
import { AMOUNT, type BenchChain, FEE, gasOf, type Hire } from "./chain.ts";

/** Gas by verb and way of using it. */
export type GasFigures = Record<string, number>;

export const BATCH = 50;

/**
 * Measures every verb of the escrow once. All parties hold tokens already, so no payment fills an empty storage slot.
 * Signatures are of keys, not of contract wallets.
 */
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

  // The permit sets the allowance, which was zero, and the deposit uses it up.
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

  return { ...figures, ...(await measureBatches(bench)) };
}

/** The gas of batches, and of a timeout, which needs its deadline to pass. */
async function measureBatches(bench: BenchChain): Promise<GasFigures> {
  const { escrow, token, relayer, buyer } = bench;
  const figures: GasFigures = {};
  const encode = escrow.interface.encodeFunctionData.bind(escrow.interface);
  const send = (sender: typeof buyer, calls: string[]) => gasOfBatch(bench, sender, calls);
  // Each hire of the batch has its own payee, who has tokens already. With a single payee the batch would look too
  // cheap.
  const batch = [];
  for (let i = 0; i < BATCH + 1; i++) {
    const holder = dataSlice(id(`payee ${i}`), 12);
    await token.mint(holder, AMOUNT);
    batch.push(await bench.held({ payee: holder }));
  }
  const release = (hire: Hire, signature = "0x") => encode("release", [hire, signature]);
  const [first, ...rest] = batch;
  figures["batch of 1 release"] = await send(buyer, [release(first as Hire)]);
  figures[`batch of ${BATCH} releases`] = await send(
    buyer,
    rest.map((hire) => release(hire)),
  );

  const signed = [];
  for (const [i, { payee }] of rest.entries()) {
    const hire = await bench.held({ payee, hireId: id(`signed ${i}`) });
    signed.push(release(hire, await bench.sign(buyer, "Release", { escrowId: bench.idOf(hire) })));
  }
  figures[`batch of ${BATCH} signed releases`] = await send(relayer, signed);

  figures[`batch of ${BATCH} deposits with authorization`] = await depositMany(bench, rest);

  const late: Hire[] = [];
  for (let i = 0; i < BATCH + 2; i++) late.push(await bench.held());
  await bench.networkHelpers.time.increaseTo(bench.deadline);
  const [single, one, ...many] = late as [Hire, Hire, ...Hire[]];
  figures.timeoutRefund = await gasOf(escrow.connect(relayer).timeoutRefund(single));
  figures["batch of 1 timeoutRefund"] = await send(relayer, [encode("timeoutRefund", [one])]);
  figures[`batch of ${BATCH} timeoutRefunds`] = await send(
    relayer,
    many.map((hire) => encode("timeoutRefund", [hire])),
  );
  return figures;
}

/** The gas of a batch. Throws if an item failed. */
async function gasOfBatch(bench: BenchChain, sender: BenchChain["buyer"], calls: string[]): Promise<number> {
  const { escrow } = bench;
  const sent = await escrow.connect(sender).batch(calls, 500_000n, { gasLimit: 16_000_000n });
  const own = (await sent.wait())?.logs.map((log) => escrow.interface.parseLog(log)?.name) ?? [];
  if (own.includes("ItemFailed") || own.includes("BatchStopped")) throw new Error("a batch was not done");
  return gasOf(Promise.resolve(sent));
}

/** Deposits one new hire for each given hire, with the same payee. All deposits are by authorization, in one transaction. */
async function depositMany(bench: BenchChain, like: readonly Hire[]): Promise<number> {
  const paid = like.map(({ payee }, i) => bench.hire({ payee, hireId: id(`paid ${i}`) }));
  const deposits = [];
  for (const hire of paid) {
    const args = [hire, 0n, bench.deadline, await bench.authorize(hire)] as const;
    deposits.push(bench.escrow.interface.encodeFunctionData("depositWithAuthorization", [...args]));
  }
  return gasOfBatch(bench, bench.relayer, deposits);
}

/**
 * Measures one hire, and fifty hires in two batches, with the token of the chain.
 *
 * @param name the token's name in the figures
 */
export async function measureHires(bench: BenchChain, name: string): Promise<GasFigures> {
  const { escrow, token, relayer, buyer } = bench;
  const one = bench.hire();
  const signature = await bench.authorize(one);
  const deposit = await gasOf(
    escrow.connect(relayer).depositWithAuthorization(one, 0n, bench.deadline, signature),
  );
  const release = await gasOf(escrow.connect(buyer).release(one, "0x"));
  const paid = [];
  for (let i = 0; i < BATCH; i++) {
    const payee = dataSlice(id(`payee ${i}`), 12);
    await token.mint(payee, AMOUNT);
    paid.push(bench.hire({ payee, hireId: id(`paid ${i}`) }));
  }
  const deposits = await depositMany(bench, paid);
  const own = [];
  const signed = [];
  for (const { payee } of paid) {
    const [first, second] = [await bench.held({ payee }), await bench.held({ payee })];
    own.push(escrow.interface.encodeFunctionData("release", [first, "0x"]));
    const word = await bench.sign(buyer, "Release", { escrowId: bench.idOf(second) });
    signed.push(escrow.interface.encodeFunctionData("release", [second, word]));
  }
  return {
    [`${name}: depositWithAuthorization`]: deposit,
    [`${name}: release by the buyer`]: release,
    [`${name}: batch of ${BATCH} deposits with authorization`]: deposits,
    [`${name}: batch of ${BATCH} releases`]: await gasOfBatch(bench, buyer, own),
    [`${name}: batch of ${BATCH} signed releases`]: await gasOfBatch(bench, relayer, signed),
  };
}

/** The gas of a single hire, and of one of fifty, with a token. */
export function hiresWith(figures: GasFigures, name: string): { perHire: number; perBatchedHire: number } {
  const at = (verb: string) => figures[`${name}: ${verb}`] ?? Number.NaN;
  const both = at(`batch of ${BATCH} deposits with authorization`) + at(`batch of ${BATCH} signed releases`);
  return {
    perHire: at("depositWithAuthorization") + at("release by the buyer"),
    perBatchedHire: both / BATCH,
  };
}

/** Figures that are computed from the others: per hire, and per item of a batch. */
export function derivedFigures(figures: GasFigures) {
  const at = (name: string) => {
    const figure = figures[name];
    if (figure === undefined) throw new Error(`not measured: ${name}`);
    return figure;
  };
  const many = at(`batch of ${BATCH} releases`);
  return {
    /** One hire that goes well: authorization relayed, released by the buyer. */
    perHire: at("depositWithAuthorization") + at("release by the buyer"),
    /** One item of a batch of 50, with its share of all costs. */
    perBatchedRelease: many / BATCH,
    /** One more item in a batch. */
    marginalRelease: (many - at("batch of 1 release")) / (BATCH - 1),
    marginalTimeout: (at(`batch of ${BATCH} timeoutRefunds`) - at("batch of 1 timeoutRefund")) / (BATCH - 1),
    /** One hire of 50 that are deposited in one transaction and released in another. */
    perBatchedHire:
      (at(`batch of ${BATCH} deposits with authorization`) + at(`batch of ${BATCH} signed releases`)) / BATCH,
    /** The cost of a release in a batch, as a share of a single release. */
    batchShare: many / BATCH / at("release by the buyer"),
  };
}
