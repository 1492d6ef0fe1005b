import { expect } from "chai";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { internalProblem, problem, problemOf, SHARED_STATUS } from "tallystick-protocol/problem";

const of = (code: string, more: object = {}) => new TallystickError({ code, message: "It is so.", ...more });

describe("a problem as the body of an answer", () => {
  it("has its fields in one order, and further fields cannot replace them", () => {
    const more = { hint: "Do it.", code: "other", status: 200, title: "OK", detail: "Fine.", extra: 1 };
    expect(JSON.stringify(problem(404, "not_found", "It is not there.", more))).to.equal(
      '{"code":"not_found","title":"Not Found","status":404,"detail":"It is not there.","hint":"Do it.","extra":1}',
    );
    expect(problem(418, "teapot", "It is one.")).to.deep.equal({
      code: "teapot",
      title: "Error",
      status: 418,
      detail: "It is one.",
    });
  });

  it("is made of an error whose code has a status: a shared one, one of the service, or the given one", () => {
    expect(problemOf(of("rate_limited"))).to.include({
      status: 429,
      code: "rate_limited",
      detail: "It is so.",
    });
    expect(problemOf(of("busy"), { busy: 503 })).to.include({ status: 503, title: "Service Unavailable" });
    expect(problemOf(of("not_found"), { not_found: 500 })?.status).to.equal(404);
    expect(problemOf(of("not_found"), 409)?.status).to.equal(409);
    for (const [code, status] of Object.entries(SHARED_STATUS))
      expect(problemOf(of(code))?.status, code).to.equal(status);
  });

  it("is not made of any other error, because only the log may have it", () => {
    for (const error of [of("secret"), of("constructor"), new Error("secret"), "secret", undefined])
      expect(problemOf(error, { busy: 503 }), String(error)).to.equal(undefined);
    expect(internalProblem()).to.deep.equal({
      code: "internal",
      title: "Internal Server Error",
      status: 500,
      detail: "The request could not be served. The cause is in the server's log.",
    });
  });

  it("names the wrong fields and the hint, if there are any, and has the additional fields", () => {
    const issues = [
      { field: "a", message: "is wrong" },
      { field: "b", message: "is too" },
    ];
    expect(problemOf(new InvalidInputError({ issues, hint: "Look." }), {}, { more: 1 })).to.deep.equal({
      code: "invalid_input",
      title: "Bad Request",
      status: 400,
      detail: "a: is wrong",
      hint: "Look.",
      errors: issues,
      more: 1,
    });
    expect(problemOf(new InvalidInputError({ issues, code: "odd" }), { odd: 422 })?.status).to.equal(422);
    expect(problemOf(of("busy", { field: "c" }), 503)?.errors).to.deep.equal([
      { field: "c", message: "It is so." },
    ]);
    expect(problemOf(of("busy"), 503)).to.have.all.keys("code", "title", "status", "detail");
  });
});
