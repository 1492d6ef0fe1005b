import { expect } from "chai";
import { checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
import { writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { SignedRecord } from "tallystick-protocol/records/record";
import { type Forgery, feedbackOf, key } from "./support/feedbackOf.ts";

/** The failed checks of a file, and the checks that were not made. All entries of the file are in the ledger's tree. */
async function judged(parameters: Parameters<typeof feedbackOf>[0]) {
  const text = writeJsonFile((await feedbackOf(parameters)) as RecordBody).text;
  const { findings } = checkFeedbackFile(text, { keys: [key] });
  const fields = (holds: boolean | null) =>
    findings.filter((it) => it.holds === holds && it.field !== "file").map(({ field }) => field);
  return { wrong: fields(false), open: fields(null) };
}

/** A record with a signature that nobody made: it has one changed digit. */
const forged: Forgery = ({ signature, ...record }) => ({
  ...record,
  signature:
    `${signature.slice(0, 10)}${signature[10] === "0" ? "1" : "0"}${signature.slice(11)}` as `0x${string}`,
});

describe("a feedback file about entries that the ledger's operator wrote", () => {
  it("passes the check when seller and buyer signed the entries", async () => {
    expect(await judged({})).to.deep.equal({ wrong: [], open: [] });
  });

  it("fails the check when the seller did not sign the receipt, or the buyer did not sign the rating", async () => {
    const receipt = "tallystick.receipt_proof.entry.signature";
    const rating = "tallystick.rating_proof.entry.signature";
    expect((await judged({ receiptAs: forged })).wrong).to.deep.equal([receipt]);
    expect((await judged({ ratingAs: forged })).wrong).to.deep.equal([rating]);
  });

  it("fails the check when the rating was signed for another ledger", async () => {
    const { wrong } = await judged({ ratingLedger: `0x${"44".repeat(32)}` });
    expect(wrong).to.deep.equal(["body.ledger"]);
  });

  it("passes the check with the registry's hash in upper case too", async () => {
    const { text, hash } = writeJsonFile((await feedbackOf()) as RecordBody);
    const given = `0x${hash.slice(2).toUpperCase()}`;
    const { findings } = checkFeedbackFile(text, { hash: given, keys: [key] });
    expect(findings.find(({ field }) => field === "file")?.holds).to.equal(true);
  });

  it("leaves the signature of a contract wallet unchecked, because only the chain can check it", async () => {
    const long = (record: SignedRecord): SignedRecord => ({
      ...record,
      signature: `0x${"ab".repeat(66)}`,
    });
    expect(await judged({ ratingAs: long })).to.deep.equal({
      wrong: [],
      open: ["tallystick.rating_proof.entry.signature"],
    });
  });
});
