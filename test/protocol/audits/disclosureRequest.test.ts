import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import {
  assignmentName,
  DISCLOSURE_HEADER,
  type DisclosureRequest,
  MAX_DISCLOSURE_HEADER,
  readDisclosureRequest,
  signDisclosureRequest,
} from "tallystick-protocol/audits/disclosureRequest";
import { InvalidInputError } from "tallystick-protocol/errors";
import { recoverBodySigner } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const auditor = account.address.toLowerCase() as Address;
const NOW = 1_800_000_000;
const hire = `0x${"ab".repeat(32)}-3`;
const request: DisclosureRequest = {
  assignment: assignmentName({ hire, round: 1, attempt: 2 }),
  hire,
  seller: `0x${"cd".repeat(20)}`,
  time: NOW,
};

const refusal = (read: () => unknown): InvalidInputError => {
  try {
    read();
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return error as InvalidInputError;
  }
  throw new Error("nothing was refused");
};

describe("an auditor's request for the work of a hire", () => {
  it("names its signer, who signed it as a request of this kind", async () => {
    const header = await signDisclosureRequest(request, { account });
    expect(header).not.to.include("\n");
    const read = readDisclosureRequest(header, { hire, now: NOW });
    expect(read.request).to.deep.equal(request);
    expect(read.signer()).to.equal(auditor);
    const { signature } = JSON.parse(header);
    expect(recoverBodySigner({ ...request, type: "audit_disclosure" }, signature)).to.equal(auditor);
    expect(assignmentName({ hire, round: 1, attempt: 2 })).to.equal(`${hire}/1/2`);
  });

  it("has another signer, or none, after any change", async () => {
    const signed = JSON.parse(await signDisclosureRequest(request, { account }));
    for (const change of [
      { assignment: `${hire}/1/3` },
      { seller: `0x${"ce".repeat(20)}` },
      { time: NOW + 1 },
      { signature: `${signed.signature.slice(0, -2)}${signed.signature.endsWith("1b") ? "1c" : "1b"}` },
    ]) {
      const read = readDisclosureRequest(JSON.stringify({ ...signed, ...change }), { hire, now: NOW });
      let signer: Address | undefined;
      try {
        signer = read.signer();
      } catch {}
      expect(signer, JSON.stringify(change)).not.to.equal(auditor);
    }
    const signature = `0x${"00".repeat(65)}`;
    const read = readDisclosureRequest(JSON.stringify({ ...signed, signature }), { hire, now: NOW });
    expect(refusal(read.signer)).to.include({
      code: "invalid_signature",
      field: `${DISCLOSURE_HEADER}.signature`,
    });
  });

  it("is valid for a minute before and after its time by the clock of the agent that is asked", async () => {
    const header = await signDisclosureRequest(request, { account });
    for (const now of [NOW - 60, NOW, NOW + 60])
      expect(readDisclosureRequest(header, { hire, now }).request.time).to.equal(NOW);
    for (const now of [NOW - 61, NOW + 61]) {
      const error = refusal(() => readDisclosureRequest(header, { hire, now }));
      expect(error).to.include({ code: "stale_request", field: `${DISCLOSURE_HEADER}.time` });
      expect(error.message).to.include("differs by 61 seconds from this clock");
    }
  });

  it("is about the hire in the path, and so is its assignment", async () => {
    const header = await signDisclosureRequest(request, { account });
    const other = `0x${"ab".repeat(32)}-4`;
    const otherAssignment = await signDisclosureRequest(
      { ...request, assignment: `${other}/1/2` },
      { account },
    );
    // The name of this hire only begins with the name of the other one.
    const longer = await signDisclosureRequest({ ...request, assignment: `${hire}1/1/2` }, { account });
    for (const [text, path] of [
      [header, other],
      [otherAssignment, hire],
      [longer, hire],
    ] as const) {
      const error = refusal(() => readDisclosureRequest(text, { hire: path, now: NOW }));
      expect(error.issues).to.deep.equal([
        { field: `${DISCLOSURE_HEADER}.hire`, message: `must be ${path}` },
      ]);
      expect(error.code).to.equal("invalid_input");
    }
  });

  it("is JSON of at most 1,024 characters, with exactly its fields", async () => {
    const header = await signDisclosureRequest(request, { account });
    const read = (text: string) => readDisclosureRequest(text, { hire, now: NOW });
    expect(read(header.padEnd(MAX_DISCLOSURE_HEADER)).signer()).to.equal(auditor);
    for (const text of [header.padEnd(MAX_DISCLOSURE_HEADER + 1), header.slice(1), "null", ""])
      expect(refusal(() => read(text)).field, text).to.equal(DISCLOSURE_HEADER);
    const signed = JSON.parse(header);
    expect(refusal(() => read(JSON.stringify({ ...signed, more: 1 }))).field).to.equal(DISCLOSURE_HEADER);
    expect(refusal(() => read(JSON.stringify({ ...signed, time: -1 }))).field).to.equal(
      `${DISCLOSURE_HEADER}.time`,
    );
  });

  it("names at most the 16th round and the 16th attempt", async () => {
    const sign = (numbers: string) =>
      signDisclosureRequest({ ...request, assignment: `${hire}/${numbers}` }, { account });
    expect(await sign("16/16")).to.include(`${hire}/16/16`);
    for (const numbers of ["17/1", "1/17", "0/1", "1/0", "1", "1/1/1", "1/01"]) {
      const error = await sign(numbers).catch((thrown: InvalidInputError) => thrown);
      expect(error, numbers).to.be.instanceOf(InvalidInputError).with.property("field", "assignment");
    }
  });
});
