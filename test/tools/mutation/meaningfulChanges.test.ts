import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { parse } from "../../../tools/mutation/compiler.ts";
import { findMutants } from "../../../tools/mutation/findMutants.ts";

/** These tests use the source of the real escrow, because they are about changes of its lines. */
describe("tools/mutation/meaningfulChanges", () => {
  let changes: string[];
  before(() => {
    const name = "contracts/HireEscrow.sol";
    const source = readFileSync(path.join(repositoryRoot, name), "utf8");
    changes = findMutants("HireEscrow.sol", source, parse(repositoryRoot, name)).map(({ id }) => id);
  });
  const has = (...parts: string[]) =>
    expect(
      changes.some((id) => parts.every((part) => id.includes(part))),
      parts.join(" … "),
    ).to.equal(true);

  it("lets a refund accept the signature of a release", () =>
    has("refund|word|", "Signatures.isSignedBy(signer, ", "RELEASE_TYPEHASH, id"));

  it("lets the seller spend the buyer's allowance", () =>
    has("depositWithPermit|sender|", "if (!(msg.sender == hire.seller))"));

  it("lets payee, guardian and others replace the required sender or signer", () => {
    has("release|sender|", "msg.sender == hire.payee");
    has("release|signer|", "Signatures.isSignedBy(guardian,");
    has("refund|role|", "|| signer == hire.feeRecipient");
    has("timeoutRefund|role|", "&& msg.sender != hire.seller");
  });

  it("puts wrong values into events", () => {
    has("refund|event|signer → msg.sender");
    has("_accept|event|payee → feeRecipient");
  });

  it("weakens the comparison of balances", () => {
    has("_requireReceived|loose|", "current < before + amount");
    has("_push|loose|", "current + amount >= before");
  });

  it("moves a step from before a call to after it", () => {
    has("_push|order|", "_callTransfer(to, amount); uint256 gasBefore = gasleft();");
    has("withdraw|order|", "uint256 before = _balance();");
  });

  it("uses the tokens of a wrong account, and pays the payee for an overdue delivery", () => {
    has("_pullByAllowance|owner|buyer → msg.sender");
    has("_tryPermit|owner|owner, address(this) → address(this), owner");
    has("timeoutRefund|owner|", "delivered ? _orSeller(hire.payee, hire.seller)");
  });
});
