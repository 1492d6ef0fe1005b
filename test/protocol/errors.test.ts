import { expect } from "chai";
import { InvalidInputError, invalidInputFromZod, TallystickError } from "tallystick-protocol/errors";
import * as z from "zod";

describe("errors", () => {
  it("have only the given fields", () => {
    const bare = new TallystickError({ code: "a", message: "It is a." });
    expect({ ...bare }).to.deep.equal({ code: "a", name: "TallystickError" });
    for (const name of ["hint", "field", "details", "cause"])
      expect(Object.hasOwn(bare, name), name).to.equal(false);
    const given = { hint: "Do b.", field: "c", details: { d: 1 }, cause: new Error("e") };
    const full = new TallystickError({ code: "a", message: "It is a.", ...given });
    expect(full).to.include({
      code: "a",
      message: "It is a.",
      hint: "Do b.",
      field: "c",
      cause: given.cause,
    });
    expect(full.details).to.equal(given.details);
  });

  it("for invalid input have the first field, and the issues of all fields", () => {
    const issues = [
      { field: "a.b", message: "must be c" },
      { field: "d", message: "is e" },
    ];
    const error = new InvalidInputError({ issues });
    expect(error).to.include({ code: "invalid_input", message: "a.b: must be c", field: "a.b", issues });
    expect(new InvalidInputError({ issues: [{ field: "", message: "is empty" }] })).to.include({
      message: "The input: is empty",
      field: "",
    });
    expect(new InvalidInputError({ issues, code: "own", message: "In other words" })).to.include({
      code: "own",
      message: "In other words",
    });
    const none = new InvalidInputError({ issues: [] });
    expect(none.message).to.equal("The input is not valid.");
    expect(Object.hasOwn(none, "field")).to.equal(false);
  });

  it("of zod become one issue for each field, with the field's path", () => {
    const shape = z.object({ a: z.object({ b: z.string(), c: z.int() }), d: z.string().optional() });
    const { error } = shape.safeParse({ a: { c: "1" }, d: 2 });
    const issues = error?.issues ?? [];
    expect(invalidInputFromZod({ issues }).issues.map(({ field }) => field)).to.deep.equal([
      "a.b",
      "a.c",
      "d",
    ]);
    const prefixed = invalidInputFromZod({ issues }, "body", "own");
    expect(prefixed.issues.map(({ field }) => field)).to.deep.equal(["body.a.b", "body.a.c", "body.d"]);
    expect(prefixed.issues[0]?.message).to.equal("is required");
    expect(prefixed.issues[1]?.message).to.match(/^Invalid input: expected number/);
    expect([prefixed.code, invalidInputFromZod({ issues }).code]).to.deep.equal(["own", "invalid_input"]);
  });
});
