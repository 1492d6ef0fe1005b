import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
import { checkResponseFile } from "tallystick-protocol/erc8004/checkResponseFile";
import { writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { parseResponseFile, responseContent } from "tallystick-protocol/erc8004/responseFile";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type SignedRecord, signRecord } from "tallystick-protocol/records/record";
import { addressOf } from "tallystick-protocol/signatures/signHash";
import { keyOf, provenRecords } from "./support/provenRecords.ts";

const ORIGIN = "tallystick.test/proven";
const [seller, client, auditor] = [
  `0x${"11".repeat(32)}`,
  `0x${"22".repeat(32)}`,
  `0x${"33".repeat(32)}`,
] as const;
const buyer = addressOf(client);
const registry = { chainId: 8_453, address: `0x${"80".repeat(20)}` as Address };
const place = { agentRegistry: registry, agentId: 7, client: buyer, index: 2 };
const hash = (byte: string) => `0x${byte.repeat(32)}`;
const [tx, params, result] = [hash("fe"), hash("a1"), hash("b2")];

/** The proofs of a verdict and of a receipt. The signed bodies can be changed, and then the whole records. */
async function proofs({
  receipt = {},
  verdict = {},
  receiptAs = (it) => it,
  verdictAs = (it) => it,
}: {
  receipt?: RecordBody;
  verdict?: RecordBody;
  receiptAs?: (record: SignedRecord) => SignedRecord;
  verdictAs?: (record: SignedRecord) => SignedRecord;
} = {}) {
  const receiptBody = {
    agent_id: addressOf(seller),
    buyer,
    capability: "text.translate.en.it",
    hire_id: "hire_01",
    tx_hash: tx,
    amount_usdc_atomic: "500000",
    network: "eip155:8453",
    completed_at: 1_767_225_500,
    protocol_version: "swarmwage/v0.3",
    verification: { all_passed: true, checks: {} },
    params_hash: params,
    result_hash: result,
    ...receipt,
  };
  const verdictBody = {
    hire: `${tx}-3`,
    round: 1,
    attempt: 1,
    verdict: "fail",
    reasons: [{ code: "off_topic", detail: "" }],
    params_hash: params,
    result_hash: result,
    ...verdict,
  };
  const records = [
    receiptAs(await signRecord({ type: "receipt", body: receiptBody, privateKey: seller })),
    verdictAs(
      await signRecord({ type: "audit_verdict", ledger: "local", body: verdictBody, privateKey: auditor }),
    ),
  ];
  const [receiptProof, verdictProof] = provenRecords(records, ORIGIN);
  return { receiptProof: receiptProof!, verdictProof: verdictProof! };
}

const issuesOf = (read: () => unknown): object[] => {
  try {
    read();
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return (error as InvalidInputError).issues;
  }
  return [];
};

const spam = { reason: "no_hire", detail: "Nobody paid." } as const;

describe("a response to a feedback", () => {
  it("says that the feedback is spam, or proves a verdict and the receipt of the judged hire", async () => {
    const about = {
      format: "tallystick/response/v1",
      agentRegistry: `eip155:8453:${registry.address}`,
      agentId: 7,
      clientAddress: `eip155:8453:${buyer}`,
      feedbackIndex: 2,
    };
    const note = responseContent(place, { spam });
    expect(note).to.deep.equal({ ...about, spam });
    expect(parseResponseFile(note).spam).to.deep.equal(spam);
    const { receiptProof, verdictProof } = await proofs();
    const content = responseContent(place, { receiptProof, verdictProof });
    expect(content).to.deep.equal({ ...about, verdict_proof: verdictProof, receipt_proof: receiptProof });
    expect(parseResponseFile(content).clientAddress).to.deep.equal({ chainId: 8_453, address: buyer });
  });

  it("is refused without exactly one of both, or with only one proof", async () => {
    const { receiptProof: receipt_proof, verdictProof: verdict_proof } = await proofs();
    const { spam: _, ...rest } = responseContent(place, { spam }) as RecordBody;
    const one = { field: "", message: "must have verdict_proof or spam, and not both" };
    const together = {
      field: "",
      message: "must have verdict_proof and receipt_proof together: the receipt shows which hire was judged",
    };
    for (const [parts, ...issues] of [
      [{}, one],
      [{ spam, verdict_proof, receipt_proof }, one],
      [{ verdict_proof }, together],
      [{ spam, receipt_proof }, together],
      [{ receipt_proof }, one, together],
      [{ spam }],
      [{ verdict_proof, receipt_proof }],
    ] as [object, ...object[]][])
      expect(
        issuesOf(() => parseResponseFile({ ...rest, ...parts })),
        Object.keys(parts).join(),
      ).to.deep.equal(issues);
  });

  const judged = (more: string) => `must judge the hire of the receipt: ${more}`;
  const [VERDICT, RECEIPT] = ["verdict_proof.entry", "receipt_proof.entry"];
  const escrow = hash("ee");
  const refused: [string, Parameters<typeof proofs>[0], string, string][] = [
    [
      "another record as the verdict",
      { verdictAs: (it) => ({ ...it, type: "pulse" }) },
      VERDICT,
      "must be an audit_verdict, and is pulse",
    ],
    [
      "another record as the receipt",
      { receiptAs: (it) => ({ ...it, type: "listing" }) },
      RECEIPT,
      "must be a receipt, and is listing",
    ],
    [
      "a hire of another buyer",
      { receipt: { buyer: addressOf(auditor) } },
      RECEIPT,
      `must be of a hire by the feedback's client, and is by ${addressOf(auditor)}`,
    ],
    [
      "another transaction",
      { verdict: { hire: `${hash("fd")}-3` } },
      VERDICT,
      judged(`it judges ${hash("fd")}-3, and the receipt is of the transaction ${tx}`),
    ],
    [
      "an escrow, although the hire was paid directly",
      { verdict: { hire: tx } },
      VERDICT,
      judged(`it judges ${tx}, and the receipt is of the transaction ${tx}`),
    ],
    [
      "another log of the transaction",
      { receipt: { log_index: 4 } },
      VERDICT,
      judged(`it judges ${tx}-3, and the receipt is of log 4 of that transaction`),
    ],
    [
      "another escrow",
      { receipt: { escrow_id: escrow }, verdict: { hire: hash("ed") } },
      VERDICT,
      judged(`it judges ${hash("ed")}, and the receipt is of ${escrow}`),
    ],
    [
      "a payment, although the hire was escrowed",
      { receipt: { escrow_id: escrow } },
      VERDICT,
      judged(`it judges ${tx}-3, and the receipt is of ${escrow}`),
    ],
    [
      "other params",
      { verdict: { params_hash: hash("a2") } },
      VERDICT,
      judged("its params_hash is not the receipt's"),
    ],
    [
      "another result",
      { verdict: { result_hash: hash("b3") } },
      VERDICT,
      judged("its result_hash is not the receipt's"),
    ],
  ];
  for (const [what, parameters, field, message] of refused) {
    it(`is not written and not read with ${what}`, async () => {
      const { receiptProof, verdictProof } = await proofs(parameters);
      const issues = [{ field, message }];
      expect(issuesOf(() => responseContent(place, { receiptProof, verdictProof }))).to.deep.equal(issues);
      const { spam: _, ...rest } = responseContent(place, { spam }) as RecordBody;
      const content = { ...rest, verdict_proof: verdictProof, receipt_proof: receiptProof };
      expect(issuesOf(() => parseResponseFile(content))).to.deep.equal(issues);
      expect(checkResponseFile(content as unknown as RecordBody).findings).to.deep.equal([
        { field, holds: false, detail: message },
      ]);
    });
  }

  it("may be about a log that the receipt names, about one that it does not name, and about an escrow", async () => {
    for (const parameters of [
      { receipt: { log_index: 3 } },
      { receipt: { escrow_id: null } },
      { receipt: { escrow_id: escrow }, verdict: { hire: escrow } },
    ] as Parameters<typeof proofs>[0][])
      expect(parseResponseFile(responseContent(place, await proofs(parameters))).feedbackIndex).to.equal(2);
  });
});

describe("the findings about a response", () => {
  const content = async (parameters?: Parameters<typeof proofs>[0]) =>
    responseContent(place, await proofs(parameters));
  const proven = (name: string, index: number) => ({
    field: name,
    holds: true,
    detail: `entry ${index} of ${ORIGIN}, 2 entries`,
  });
  const signedBy = (name: string, signer: string) => ({
    field: `${name}.entry.signature`,
    holds: true,
    detail: `signed by ${signer}`,
  });
  const bought = { field: "clientAddress", holds: true, detail: `${buyer} bought the hire that was judged` };
  const unknownAuditor = {
    field: "verdict_proof.auditor",
    holds: null,
    detail: "whether its signer was an auditor of this hire: the node's audits say so",
  };

  it("are those of both proofs, and leave the auditor's assignment to the node", async () => {
    const { findings, proofs: verified } = checkResponseFile(await content(), { keys: [keyOf(ORIGIN)] });
    expect(findings).to.deep.equal([
      proven("verdict_proof", 1),
      signedBy("verdict_proof", addressOf(auditor)),
      proven("receipt_proof", 0),
      signedBy("receipt_proof", addressOf(seller)),
      bought,
      { field: "verdict_proof.ledger", holds: true, detail: "verdict and receipt stand in one ledger" },
      unknownAuditor,
    ]);
    expect(verified.map(([field, { index }]) => [field, index])).to.deep.equal([
      ["verdict_proof", 1],
      ["receipt_proof", 0],
    ]);
  });

  it("are also made of a text that is a response file", async () => {
    const { text, hash } = writeJsonFile(await content());
    const checked = checkFeedbackFile(text, { hash, keys: [keyOf(ORIGIN)] });
    expect(checked.findings[0]).to.include({ field: "file", holds: true });
    expect(checked.findings.slice(1)).to.deep.equal(checkResponseFile(await content()).findings);
    expect(checked.responseProofs?.map(([field]) => field)).to.deep.equal(["verdict_proof", "receipt_proof"]);
    expect(checked).not.to.have.property("file");
  });

  it("of a note that a feedback is spam are only the word of its author", () => {
    expect(checkResponseFile(responseContent(place, { spam }))).to.deep.equal({
      findings: [{ field: "spam", holds: null, detail: "no_hire: only the word of the responder" }],
      proofs: [],
    });
  });

  it("say that verdict and receipt stand in two ledgers", async () => {
    const { receiptProof } = await proofs();
    const { verdictProof } = await proofs();
    const [elsewhere] = provenRecords(
      [
        await signRecord({
          type: "audit_verdict",
          ledger: "local",
          body: verdictOf(verdictProof.entry),
          privateKey: auditor,
        }),
      ],
      "tallystick.test/other",
    );
    const { findings } = checkResponseFile(
      responseContent(place, { receiptProof, verdictProof: elsewhere! }),
    );
    expect(findings.filter(({ holds }) => holds === false)).to.deep.equal([
      {
        field: "verdict_proof.ledger",
        holds: false,
        detail: `is of tallystick.test/other, and the receipt of ${ORIGIN}`,
      },
    ]);
  });

  it("have only the proofs that hold", async () => {
    const both = await proofs();
    for (const [broken, left] of [
      ["verdict_proof", "receipt_proof"],
      ["receipt_proof", "verdict_proof"],
    ] as const) {
      const name = broken === "verdict_proof" ? "verdictProof" : "receiptProof";
      const wrong = { ...both, [name]: { ...both[name], index: 5 } };
      const { findings, proofs: verified } = checkResponseFile(responseContent(place, wrong));
      expect(findings.filter(({ holds }) => holds === false)).to.deep.equal([
        { field: broken, holds: false, detail: "The entry is not entry 5 of the checkpoint's ledger." },
      ]);
      expect(verified.map(([field]) => field)).to.deep.equal([left]);
      expect(findings.some(({ field }) => field === "clientAddress")).to.equal(left === "receipt_proof");
      expect(findings.some(({ field }) => field === "verdict_proof.auditor")).to.equal(
        left === "verdict_proof",
      );
      expect(findings.some(({ field }) => field === "verdict_proof.ledger")).to.equal(false);
    }
  });

  it("refuse a verdict that was signed for another ledger, or by nobody", async () => {
    const other = `0x${"44".repeat(32)}` as const;
    const bound = await content({ verdictAs: (it) => ({ ...it, body: { ...it.body, ledger: other } }) });
    const wrong = checkResponseFile(bound).findings.filter(({ holds }) => holds === false);
    expect(wrong.map(({ field }) => field)).to.deep.equal(["verdict_proof.entry.signature", "body.ledger"]);
    const form = checkResponseFile({ format: "tallystick/response/v1" });
    expect(form.findings.map(({ field }) => field)).to.include("agentRegistry");
    expect(form.findings.every(({ holds }) => holds === false)).to.equal(true);
    expect(form.proofs).to.deep.equal([]);
  });
});

/** The fields of the verdict in a line of a ledger. */
function verdictOf(line: string): RecordBody {
  const { type: _, ledger: __, ...fields } = JSON.parse(line).payload.body;
  return fields;
}
