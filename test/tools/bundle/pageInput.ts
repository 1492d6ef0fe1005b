import { toHex } from "tallystick-protocol/hex";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { parseListing } from "tallystick-protocol/records/listing";
import { textDigest } from "tallystick-protocol/signatures/signedText";
import { privateKeyToAccount } from "viem/accounts";
import { readSamples } from "../../../tools/samples/readSamples.ts";
import { DAY, EventLog, wallet } from "../../derive/eventLog.ts";

export const account = privateKeyToAccount(`0x${"11".repeat(32)}`);

const offer = {
  agent_id: wallet(7),
  capability: "compute.statistics.mean",
  price_usdc: "0.50",
  max_latency_ms: 900,
  endpoint: "https://seller.example/agent",
};
const translation = { ...offer, capability: "text.translate.en.it" };

/**
 * Invalid offers. A check of this repository refuses one field, and a check of zod refuses another field.
 */
export const badOffers = [{ capability: offer.capability, price_usdc: "a lot", max_latency_ms: 0 }];

export const hire = {
  hireId: `0x${"12".repeat(32)}`,
  buyer: wallet(1),
  seller: wallet(2),
  payee: wallet(3),
  amount: 500_000n,
  fee: 2_500n,
  feeRecipient: wallet(4),
  deadline: 1_800_000_000n,
  arbiter: wallet(0),
} as const;
export const deployment = { chainId: 8453, escrow: wallet(9) };

/** Three hires on three days. */
export const log = new EventLog();
for (const buyer of [3, 4, 5]) {
  log.hire(wallet(1), wallet(buyer));
  log.after(DAY);
}
log.tick();

/** A good result and a damaged one for each capability. */
export const samples = readSamples().filter(
  ({ capability, fails }, at, all) =>
    at ===
    all.findIndex((it) => it.capability === capability && (it.fails === undefined) === (fails === undefined)),
);

/** A hire of a translation that was paid on an earlier visit. */
const journal = {
  "hire/job_1": {
    hireId: `0x${"ab".repeat(32)}`,
    jobId: "job_1",
    startedAt: 0,
    listing: parseListing(translation),
    request: {
      buyer_id: account.address.toLowerCase(),
      ...{ capability: translation.capability, params: { text: "hello" }, max_latency_ms: 1 },
    },
    maxPrice: "1000000",
    judge: "standard",
    telemetry: false,
    signsUntil: 0,
    signed: {
      amount: "500000",
      payload: {
        x402Version: 2,
        accepted: { network: "eip155:8453" },
        payload: { authorization: { nonce: `0x${"0".repeat(64)}` } },
      },
      validUntil: 4_000_000_000,
    },
  },
};

/** The input of page.mjs. */
export async function pageInput(): Promise<object> {
  const address = account.address.toLowerCase();
  const leaves = ["one", "two", "three", "four", "five"];
  const tree = new MerkleTree();
  for (const leaf of leaves) tree.append(leafHash(new TextEncoder().encode(leaf)));
  const text = '{"a":1}';
  return {
    inclusion: {
      leaf: "three",
      index: 2,
      size: leaves.length,
      proof: tree.inclusionProof(2).map((hash) => toHex(hash)),
      root: toHex(tree.root()),
    },
    signer: { text, signature: await account.signMessage({ message: { raw: textDigest(text) } }) },
    buyer: { address, listing: parseListing(offer), journal, missing: translation.capability },
    seller: { address, listings: badOffers },
    escrow: { hire: { ...hire, amount: "500000", fee: "2500", deadline: "1800000000" }, deployment },
    derive: log.events.map((event) => JSON.stringify(event)),
    verify: samples,
  };
}
