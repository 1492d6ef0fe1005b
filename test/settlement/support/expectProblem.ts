import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { TestAnswer, TestService } from "./testService.ts";

/** The ledger's file as it is on the disk. */
export function ledgerText({ ledger }: TestService): string {
  return readFileSync(ledger.path, "latin1");
}

/** Expects a problem that names these fields, and an untouched, empty ledger. */
export function expectProblem(
  service: TestService,
  answer: TestAnswer,
  status: number,
  code: string,
  fields?: string[],
): void {
  expect(answer.type, answer.text).to.equal("application/problem+json");
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.json).to.include({ status, code });
  expect(answer.json.title).to.be.a("string").and.not.equal("");
  expect(answer.json.detail).to.be.a("string").and.not.equal("");
  if (fields)
    expect(answer.json.errors?.map((error: { field: string }) => error.field)).to.deep.equal(fields);
  expect(service.ledger.size).to.equal(0);
  expect(ledgerText(service)).to.equal("");
}
