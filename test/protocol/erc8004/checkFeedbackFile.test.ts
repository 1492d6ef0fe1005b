import { expect } from "chai";
import { checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
import { parseFeedbackFile } from "tallystick-protocol/erc8004/feedbackFile";
import { writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { noteVerifierKey } from "tallystick-protocol/note/signedNote";
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

describe("the findings about a feedback file", () => {
  const written = async (change: (content: RecordBody) => RecordBody = (it) => it) =>
    writeJsonFile(change((await feedbackOf()) as RecordBody));
  const failed = (text: string, parameters: Parameters<typeof checkFeedbackFile>[1] = { keys: [key] }) =>
    checkFeedbackFile(text, parameters)
      .findings.filter(({ holds }) => holds === false)
      .map(({ field, detail }) => `${field}: ${detail}`);

  it("say of each field what was found, and of the hash that nobody gave one", async () => {
    const content = (await feedbackOf()) as RecordBody;
    const { text, hash } = writeJsonFile(content);
    const { findings, file, proof, responseProofs } = checkFeedbackFile(text);
    const { tallystick, proofOfPayment, ...rest } = content as { [key: string]: RecordBody };
    const { receipt_proof: _, rating_proof: __, ...ours } = tallystick as RecordBody;
    const fields = Object.entries({
      ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, value])),
      ...Object.fromEntries(Object.entries(ours).map(([name, value]) => [`tallystick.${name}`, value])),
      ...Object.fromEntries(
        Object.entries(proofOfPayment as RecordBody).map(([name, value]) => [
          `proofOfPayment.${name}`,
          value,
        ]),
      ),
    }).map(([field, value]) => ({ field, holds: true, detail: String(value) }));
    const { seller } = ours as { seller: string };
    const { fromAddress: buyer } = proofOfPayment as { fromAddress: string };
    expect(findings.slice(0, 5)).to.deep.equal([
      { field: "file", holds: null, detail: `has the hash ${hash}; no hash was given to compare it with` },
      {
        field: "tallystick.receipt_proof",
        holds: true,
        detail: "entry 0 of tallystick.test/feedback, 2 entries",
      },
      { field: "tallystick.rating_proof", holds: true, detail: "entry 1 of the same checkpoint" },
      { field: "tallystick.receipt_proof.entry.signature", holds: true, detail: `signed by ${seller}` },
      { field: "tallystick.rating_proof.entry.signature", holds: true, detail: `signed by ${buyer}` },
    ]);
    expect(findings.slice(5)).to.have.deep.members(fields);
    expect(file?.agentId).to.equal(7);
    expect(proof?.index).to.equal(0);
    expect(responseProofs).to.equal(undefined);
  });

  it("compare the hash of the file", async () => {
    const { text, hash } = await written();
    expect(checkFeedbackFile(text, { hash }).findings[0]).to.deep.equal({
      field: "file",
      holds: true,
      detail: `has the hash ${hash}`,
    });
    const other = `0x${"12".repeat(32)}`;
    expect(failed(text, { hash: other, keys: [key] })).to.deep.equal([
      `file: has the hash ${hash}, not ${other}`,
    ]);
  });

  it("say what the ledger says of a field that differs, and that a field is missing", async () => {
    expect(failed((await written((it) => ({ ...it, value: 100 }))).text)).to.deep.equal([
      "value: is 100, and the ledger says 80",
    ]);
    expect(failed((await written((it) => ({ ...it, tag2: "" }))).text)).to.deep.equal([
      "tag2: is , and the ledger says text.translate.en.it",
    ]);
    expect(failed((await written(({ value: _, ...rest }) => rest as RecordBody)).text)[0]).to.match(
      /^value: /,
    );
    expect(failed((await written((it) => ({ ...it, more: 1 }))).text)[0]).to.match(/^file: /);
    expect(failed("[]")).to.deep.equal(["file: must be a JSON object"]);
  });

  it("accept the addresses of accounts in upper and lower case, and no other chain or address", async () => {
    const account = async (change: (id: string) => string) =>
      failed((await written((it) => ({ ...it, clientAddress: change(String(it.clientAddress)) }))).text);
    expect(await account((id) => id.slice(0, -40) + id.slice(-40).toUpperCase())).to.deep.equal([]);
    for (const other of [
      (id: string) => id.replace("8453", "8454"),
      (id: string) => id.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    ])
      expect((await account(other))[0]).to.match(/^clientAddress: is eip155:.*, and the ledger says eip155:/);
  });

  it("say that a rating is in no tree of the receipt's checkpoint", async () => {
    const { text } = await written((it) => {
      const ours = it.tallystick as RecordBody;
      const rating = ours.rating_proof as RecordBody;
      return { ...it, tallystick: { ...ours, rating_proof: { ...rating, index: 0 } } };
    });
    expect(failed(text)).to.deep.equal(["tallystick.rating_proof: is not entry 0 of the same checkpoint"]);
  });

  it("have no proof if the receipt's proof is wrong", async () => {
    const { text } = await written();
    const other = noteVerifierKey("tallystick.test/feedback", new Uint8Array(32).fill(1));
    const checked = checkFeedbackFile(text, { keys: [other] });
    expect(checked).not.to.have.property("proof");
    expect(failed(text, { keys: [other] })).to.deep.equal([
      "tallystick.receipt_proof: The checkpoint is not signed by the key.",
    ]);
  });

  it("say that the signature of a record is not by its signer", async () => {
    const content = (await feedbackOf({ ratingAs: forged })) as RecordBody;
    const buyer = (content.proofOfPayment as RecordBody).fromAddress;
    expect(failed(writeJsonFile(content).text)).to.deep.equal([
      `tallystick.rating_proof.entry.signature: is not by ${buyer}`,
    ]);
    const long: Forgery = (record) => ({ ...record, signature: `0x${"ab".repeat(66)}` });
    const { findings } = checkFeedbackFile(
      writeJsonFile((await feedbackOf({ ratingAs: long })) as RecordBody).text,
      { keys: [key] },
    );
    expect(findings.filter(({ holds }) => holds === null).at(-1)).to.deep.equal({
      field: "tallystick.rating_proof.entry.signature",
      holds: null,
      detail: `${buyer} signed as a contract: only the chain can say`,
    });
  });
});

describe("a feedback file that does not belong together", () => {
  const fault = async (parameters: Parameters<typeof feedbackOf>[0]): Promise<object[]> => {
    try {
      await feedbackOf(parameters);
    } catch (error) {
      return (error as InvalidInputError).issues;
    }
    return [];
  };
  const bodyWith =
    (change: RecordBody): Forgery =>
    (record) => ({ ...record, body: { ...record.body, ...change } });
  const [receipt, rating] = ["tallystick.receipt_proof.entry", "tallystick.rating_proof.entry"];

  it("is not written, and the error names the entry and its fault", async () => {
    for (const [parameters, field, message] of [
      [{ receiptAs: (it) => ({ ...it, type: "pulse" }) }, receipt, "must be a receipt"],
      [{ ratingAs: (it) => ({ ...it, type: "pulse" }) }, rating, "must be a rating"],
      [
        { receiptAs: bodyWith({ amount_usdc_atomic: "0", tx_hash: `0x${"00".repeat(32)}` }) },
        receipt,
        "is of a free call: nothing was paid",
      ],
      [{ ratingAs: bodyWith({ receipt: "ab".repeat(32) }) }, rating, "must be the rating of this receipt"],
      [{ ratingAs: bodyWith({ side: "seller" }) }, rating, "must be the rating by the receipt's buyer"],
      [
        { ratingAs: (it) => ({ ...it, signer: `0x${"12".repeat(20)}` }) },
        rating,
        "must be the rating by the receipt's buyer",
      ],
      [
        { receiptAs: bodyWith({ network: "solana" }) },
        receipt,
        "names the network solana, which is no EVM chain",
      ],
    ] as [Parameters<typeof feedbackOf>[0], string, string][])
      expect(await fault(parameters), message).to.deep.equal([{ field, message }]);
  });

  it("names the payee of the receipt, and the seller if there is none", async () => {
    const payee = `0x${"12".repeat(20)}`;
    const to = async (parameters: Parameters<typeof feedbackOf>[0]) =>
      ((await feedbackOf(parameters)) as RecordBody).proofOfPayment as RecordBody;
    const bare = await to({});
    expect((await to({ receiptAs: bodyWith({ payee }) })).toAddress).to.equal(payee);
    expect(bare.toAddress).not.to.equal(bare.fromAddress);
  });

  it("is read with the time of the rating in whole seconds", async () => {
    const content = (await feedbackOf()) as RecordBody;
    expect(content.createdAt).to.equal("2026-01-01T00:00:01Z");
    expect(parseFeedbackFile(content).createdAt).to.equal(content.createdAt);
    expect(() => parseFeedbackFile({ ...content, value: "1" }))
      .to.throw(InvalidInputError)
      .with.property("field", "value");
  });
});
