import { expect } from "chai";
import { checkPayeeSignature } from "tallystick-protocol/records/listing";
import { checkBuyerSignature } from "tallystick-protocol/records/receipt";
import { isSignedBy, type SignedRecord, signBody, signRecord } from "tallystick-protocol/records/record";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import type { RecoverPublicKey } from "tallystick-protocol/signatures/recoverPublicKey";
import { remembered } from "tallystick-protocol/signatures/remembered";
import { readSignatureHere, type SignatureReading } from "tallystick-runtime/signatures/readSignature";
import type { Question } from "tallystick-runtime/signatures/signatureThreads";
import { BATCH, SignersAhead } from "../../../indexer/src/segments/signersAhead.ts";
import { newWallet } from "../support/localChain.ts";

const [seller, other] = [newWallet(), newWallet()];
const buyer = other.address.toLowerCase();

/**
 * A record for a number: a receipt that should have its buyer's signature too, or a listing that should have its
 * payee's. Some records have no such signature, or a wrong one. Some name a wrong signer. Every fifth number gives
 * null.
 */
async function recordOf(n: number): Promise<SignedRecord | null> {
  if (n % 5 === 4) return null;
  const [type, key] =
    n % 2 === 0 ? (["receipt", "buyer_signature"] as const) : (["listing", "payee_signature"] as const);
  const plain = { n, [n % 2 === 0 ? "buyer" : "payee"]: buyer };
  const nested = await signBody(plain, { privateKey: (n % 3 === 0 ? seller : other).privateKey });
  const body = n % 7 === 0 ? plain : { ...plain, [key]: nested };
  const record = await signRecord({ type, body, privateKey: seller.privateKey });
  return n % 11 === 0 ? { ...record, signer: `0x${"00".repeat(20)}` } : record;
}

/** All checks of a record's signatures. */
const checks = (record: SignedRecord | null, recover: RecoverPublicKey) =>
  record && [
    isSignedBy(record.body, record.signature, record.signer, recover),
    record.type === "receipt"
      ? checkBuyerSignature(record.body, recover)
      : checkPayeeSignature(record.body, recover),
  ];

describe("signers that are recovered in advance", () => {
  let records: (SignedRecord | null)[];
  let wasm: RecoverPublicKey;
  let recoveredHere: number;
  const counting = () => {
    recoveredHere = 0;
    return remembered((...question) => {
      recoveredHere++;
      return wasm(...question);
    });
  };
  before(async () => {
    wasm = await recoverByWasm();
    records = await Promise.all(Array.from({ length: 5 * BATCH + 3 }, (_, n) => recordOf(n)));
  });

  async function checkAll(
    ask: (questions: Question[]) => Promise<SignatureReading[] | null>,
    some = records,
  ) {
    const recover = counting();
    const ahead = new SignersAhead(some, { ask }, recover.known);
    const results = [];
    for (const [index, record] of some.entries()) {
      await ahead.until(index);
      results.push(checks(record, recover));
    }
    return results;
  }
  const expected = (some = records) => some.map((record) => checks(record, wasm));
  const answer = async (questions: Question[]): Promise<SignatureReading[]> =>
    questions.map((question) => readSignatureHere(wasm)(...question));

  it("leave nothing to recover for the later check, and change no result", async () => {
    expect(await checkAll(answer)).to.deep.equal(expected());
    expect(recoveredHere).to.equal(0);
  });

  it("are recovered in the later check if no thread answers", async () => {
    for (const answered of [0, 2]) {
      let asked = 0;
      const ask = async (questions: Question[]) => (asked++ < answered ? answer(questions) : null);
      expect(await checkAll(ask)).to.deep.equal(expected());
      expect(recoveredHere).to.be.above(0);
    }
  });

  it("are not recovered in advance in a segment of a few records", async () => {
    const few = records.slice(0, BATCH - 1);
    expect(await checkAll(() => expect.fail("a thread was asked"), few)).to.deep.equal(expected(few));
  });

  it("are recovered for a limited number of entries in advance, and awaited only when they are needed", async () => {
    const many = Array.from({ length: 100 * BATCH }, (_, n) => records[n % records.length] ?? null);
    const answers: (() => void)[] = [];
    const ask = () => new Promise<null>((resolve) => answers.push(() => resolve(null)));
    const ahead = new SignersAhead(many, { ask }, counting().known);
    const before = answers.length;
    expect(before).to.be.within(2, 50);
    let isThere = false;
    const first = ahead.until(0).then(() => {
      isThere = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isThere).to.equal(false);
    answers[0]?.();
    await first;
    await ahead.until(1);
    for (const resolve of answers) resolve();
    await ahead.until(BATCH);
    expect(answers.length).to.equal(before + 1);
  });
});
