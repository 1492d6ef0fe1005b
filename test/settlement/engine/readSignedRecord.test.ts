import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { readSignedRecord } from "../../../services/settlement/engine/readSignedRecord.ts";
import { bound, buyer, envelope, flat, listingBody, seller } from "../support/records.ts";

const asSent = (value: unknown): PyJson => parsePythonJson(JSON.stringify(value));
const [BUYER, SELLER] = [buyer, seller].map(({ address }) => address.toLowerCase());

describe("a signed record as it was sent", () => {
  /** The faults as `field: message`, after the code and the hint. */
  const faults = (value: unknown, type = "listing", beside: string[] = []): string[] => {
    try {
      readSignedRecord(asSent(value), type, beside);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      return [error.code, ...error.issues.map(({ field, message }) => `${field}: ${message}`)];
    }
    return expect.fail("it was accepted");
  };

  it("is read from its envelope and from the flat form, and the signer is named, the agent, or recovered", async () => {
    const { body, signature } = await envelope(listingBody());
    const wanted = { type: "listing", body, signer: SELLER, signature };
    expect(readSignedRecord(asSent({ body, signature }), "listing").record).to.deep.equal(wanted);
    expect(readSignedRecord(asSent({ ...body, signature }), "listing").record).to.deep.equal(wanted);
    const whole = { type: "listing", body, signature, signer: BUYER, rating_token: "t" };
    const { record } = readSignedRecord(asSent(whole), "listing", ["rating_token"]);
    expect(record).to.deep.equal({ ...wanted, signer: BUYER });
    const pulse = await bound("pulse", { size: 1 }, buyer);
    expect(readSignedRecord(asSent(pulse), "pulse").record).to.include({ signer: BUYER });
    const asked: unknown[] = [];
    const recover = (...of: unknown[]) => {
      asked.push(of);
      throw new Error("asked");
    };
    const reading = () => readSignedRecord(asSent(pulse), "pulse", [], recover as never);
    expect(reading).to.throw("asked");
    expect(asked).to.have.length(1);
  });

  it("is refused with every fault, each by its path in the request", async () => {
    const { body, signature } = await envelope(listingBody());
    const hex = "signature: must be 0x and an even number of hex digits";
    const unsigned = "note: is not signed; move it into body";
    expect(faults({ body, signature, note: 1, type: "receipt", signer: "me" })).to.deep.equal([
      "invalid_input",
      unsigned,
      "type: must be listing here",
      faults({ body, signature, signer: "me" })[1],
    ]);
    expect(faults({ body, signature, signer: "me" })[1]).to.match(/^signer: ./);
    expect(faults({ body, signature: "0x123" })).to.deep.equal(["invalid_input", hex]);
    expect(faults({ body })).to.deep.equal(["invalid_input", hex]);
    const { agent_id: _, ...nobody } = body;
    expect(faults({ body: nobody, signature })[1]).to.match(/^body\.agent_id: ./);
    expect(faults({ ...nobody, signature })[1]).to.match(/^agent_id: ./);
    const pulse = await bound("pulse", { size: 1 }, buyer);
    expect(faults({ ...pulse, signature: "0x12" }, "pulse")[1]).to.match(/^signer: ./);
    for (const value of [null, [], "x", 7, true])
      expect(faults(value)).to.deep.equal(["invalid_input", "body: must be a JSON object"]);
  });

  it("needs an envelope if its type is bound to a ledger, and a rating needs a signature", async () => {
    const unbound = ["unbound", "body: must be an object: what is signed, with its type and ledger"];
    for (const value of [{ size: 1 }, { body: [], signature: "0x" }, { body: null }, { body: "x" }])
      expect(faults(value, "pulse"), JSON.stringify(value)).to.deep.equal(unbound);
    const old = { rating_token: "t", stars: 5 };
    expect(faults(old, "rating")).to.deep.equal([
      "unsigned_rating",
      "body: is required: the rating, as its wallet signs it",
    ]);
    expect(faults({ ...old, signature: "0x12" }, "rating")).to.deep.equal(unbound);
    expect(faults({ stars: 5 }, "rating")).to.deep.equal(unbound);
    expect(faults(old, "telemetry")).to.deep.equal(unbound);
    const errorOf = (value: object, type: string) => {
      try {
        return readSignedRecord(asSent(value), type);
      } catch (error) {
        return error as InvalidInputError;
      }
    };
    expect(errorOf({ size: 1 }, "pulse")).to.include({
      hint: 'Send {body, signature}; body has type "pulse" and ledger, as GET /v1/ledger/latest names it, beside its own fields.',
    });
    expect(errorOf(old, "rating")).to.have.property("hint").that.contains("rate() of this project's SDK");
    expect(errorOf(old, "rating"))
      .to.have.property("message")
      .that.matches(/^The hire's buyer or seller must/);
  });

  it("in the flat form has its own faults by the fields of the request", async () => {
    const { explain } = readSignedRecord(asSent(await flat(listingBody())), "listing");
    const cause = new Error("why");
    const issues = [
      { field: "body.price_usdc", message: "is wrong" },
      { field: "signer", message: "body. is wrong" },
    ];
    const error = new InvalidInputError({ issues, code: "c", hint: "h", cause });
    const told = explain(error) as InvalidInputError;
    expect(told).to.be.instanceOf(InvalidInputError).and.to.include({ code: "c", hint: "h", cause });
    expect(told.issues).to.deep.equal([{ field: "price_usdc", message: "is wrong" }, issues[1]]);
    expect(explain(new InvalidInputError({ issues }))).not.to.have.property("hint");
    expect(explain(cause)).to.equal(cause);
    const whole = readSignedRecord(asSent(await envelope(listingBody())), "listing");
    expect(whole.explain(error)).to.equal(error);
  });
});
