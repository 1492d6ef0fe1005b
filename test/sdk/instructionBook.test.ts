import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { type EscrowDeployment, escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import { toHireJson } from "tallystick-protocol/escrow/hireJson";
import { encodeEscrowCall } from "tallystick-sdk/escrow/escrowCalls";
import { openGasAccounts, signaturesOf } from "tallystick-sdk/escrow/gasAccounts";
import { openInstructionBook, SURE_MS } from "tallystick-sdk/escrow/keeperInstructions";
import { createEscrowSigner } from "tallystick-sdk/escrow/signEscrow";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { newWallet } from "./support/sdkChain.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const deployment: EscrowDeployment = { chainId: 31_337, escrow: address("e5") };
const network = { chainId: 31_337, token: address("70"), name: "USD Coin", version: "2" };
const LIMIT = 400_000;

describe("the instructions that a keeper has on disk", () => {
  const [buyer, seller] = [newWallet(), newWallet()];
  const hire: Hire = {
    ...{ hireId: `0x${"33".repeat(32)}`, buyer: buyer.address, seller: seller.address, payee: ZERO_ADDRESS },
    ...{ amount: 7n, fee: 0n, feeRecipient: ZERO_ADDRESS, deadline: 2n ** 40n, arbiter: ZERO_ADDRESS },
  };
  const id = escrowId(hire, deployment);
  const release = `release/${id}`;
  let store: ReturnType<typeof memoryStore>;
  let logged: unknown[];
  beforeEach(() => {
    [store, logged] = [memoryStore(), []];
  });
  /** A keeper that starts on this disk. */
  const open = async () => {
    const accounts = await openGasAccounts(store, () => 0);
    const calls = { deployment, idOf: (of: Hire) => escrowId(of, deployment) };
    const log = (sentence: string, details?: object) => void logged.push([sentence, details]);
    const book = await openInstructionBook({ calls, store, accounts, log });
    return { accounts, book };
  };

  it("have the key, the call and the signer of what was signed; each party's refund has its own key", async () => {
    const { book } = await open();
    const signerOf = ({ account }: typeof buyer) => createEscrowSigner({ account, deployment, network });
    const signature = await signerOf(buyer).release(id);
    const one = book.read("release", hire, buyer.address, signature);
    expect(one).to.deep.include({ key: release, id, signer: buyer.address, signature, byKey: true });
    expect(one.call).to.equal(encodeEscrowCall("release", [hire, signature]));
    expect(one).to.include({ gasUsed: 0, tries: 0, looks: 0, notBefore: 0, owed: 0, hasPaid: false });
    for (const party of [buyer, seller]) {
      const word = await signerOf(party).refund(id);
      const refund = book.read("refund", hire, party.address, word);
      expect(refund).to.include({ key: `refund/${id}.${party.address}`, byKey: true });
      expect(refund.call).to.equal(encodeEscrowCall("refund", [hire, party.address, word]));
      expect(book.read("release", hire, party.address, word).byKey, "another word").to.equal(false);
    }
    expect(book.read("refund", hire, seller.address, signature).byKey).to.equal(false);
    expect([book.all(), await store.keys("release")], "nothing is stored").to.deep.equal([[], []]);
  });

  it("are found again by the next process with their progress", async () => {
    const { book, accounts } = await open();
    const plain = book.read("refund", hire, seller.address, "0x12");
    await book.put(plain);
    expect(await store.get(plain.key)).to.deep.equal({
      ...{ hire: toHireJson(hire), signature: "0x12", signer: seller.address, tries: 0 },
    });
    const far = book.read("release", hire, buyer.address, "0x12");
    far.tries = 1;
    far.owed = 5;
    far.settledAt = 9;
    far.hasPaid = true;
    far.reservation = accounts.reserve(signaturesOf(buyer.address), 100, LIMIT);
    await book.put(far);
    expect(book.find(release)).to.equal(far);
    const next = await open();
    expect(next.book.all().map(({ key }) => key)).to.have.members([release, plain.key]);
    const found = next.book.find(release);
    // Nobody knows what the running attempt cost.
    expect(found).to.include({ tries: 1, owed: 105, settledAt: 9, hasPaid: true, notBefore: 9 + SURE_MS });
    expect(found?.reservation?.gas).to.equal(100);
    expect(next.accounts.roomOf(signaturesOf(buyer.address), LIMIT)).to.equal(LIMIT - 100);
    const other = next.book.find(plain.key);
    expect(other).to.include({ tries: 0, owed: 0, hasPaid: false, notBefore: 0 });
    expect([other?.settledAt, other?.reservation]).to.deep.equal([undefined, undefined]);
    await next.book.remove(found ?? expect.fail("it is not found"));
    expect([next.book.find(release), await store.get(release)]).to.deep.equal([undefined, undefined]);
  });

  it("are not removed by an older one that they have replaced", async () => {
    const { book } = await open();
    const [older, newer] = [
      book.read("release", hire, buyer.address, "0x12"),
      book.read("release", hire, buyer.address, "0x34"),
    ];
    for (const it of [older, newer]) await book.put(it);
    await book.remove(older);
    expect(book.find(release)).to.equal(newer);
    expect(await store.get(release)).to.include({ signature: "0x34" });
  });

  it("of an earlier version are the buyer's, and one that cannot be read stays where it is", async () => {
    await store.put(release, { hire: toHireJson(hire), signature: "0x12" });
    await store.put("release/bad", { hire: {}, signature: "0x12" });
    const { keys } = store;
    store.keys = async (folder) => [`${folder}/gone`, ...(await keys(folder))];
    const { book } = await open();
    expect(book.all().map(({ key, signer }) => [key, signer])).to.deep.equal([[release, buyer.address]]);
    expect(logged).to.have.length(1);
    const [[sentence, details]] = logged as [[string, { key: string; error: string }]];
    expect(sentence).to.equal("An instruction cannot be read and is left where it is.");
    expect(details.key).to.equal("release/bad");
    expect(details.error).to.match(/^InvalidInputError: /);
    expect(await store.get("release/bad")).not.to.equal(undefined);
  });
});
