import { expect } from "chai";
import { readSettlementRules } from "../../services/dispatch/triage/settlementRules.ts";

const read = (text: string) =>
  readSettlementRules(
    { baseUrl: "http://settlement.test", apiKey: "key", fetch: async () => new Response(text) },
    new AbortController().signal,
  );

describe("the rules of settlement that a dispatcher reads", () => {
  it("say which actions need a shadow", async () => {
    const actions = { payment: { shadow: true }, deletion: {}, "*": { allow: false } };
    const { asksShadow, coreLogic } = await read(JSON.stringify({ core_logic: "be kind", actions }));
    expect(coreLogic).to.equal("be kind");
    expect(["payment", "deletion", "terminal", undefined].map(asksShadow)).to.deep.equal([
      ...[true, false, false, false],
    ]);
    expect((await read("{}")).asksShadow("payment")).to.equal(false);
  });

  it("are asked for again if something else answers: its answer gives a passing ServiceError", async () => {
    for (const text of ["<html>", "null", "[]", "7", '{"actions":[]}', '{"actions":"all"}']) {
      const failure = await read(text).catch((error: unknown) => error);
      expect(failure, text).to.include({ name: "ServiceError", code: "unreadable_answer", status: 0 });
    }
  });
});
