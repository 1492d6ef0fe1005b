import { expect } from "chai";
import { createApi } from "../../../indexer/api/app.ts";

const QUERY = "{ __typename }";
const encoded = `query=${encodeURIComponent(QUERY)}`;

describe("the GraphQL endpoint", () => {
  const app = createApi({
    db: {} as never,
    operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
    node: { chainId: 1, token: `0x${"70".repeat(20)}` },
    settlementUrl: null,
  });
  const answerOf = async (response: Response) => {
    const body = (await response.json()) as { errors?: { extensions?: { code?: string } }[] };
    return [response.status, body.errors?.[0]?.extensions?.code];
  };
  const post = (body: string, type = "application/json") =>
    Promise.resolve(
      app.request("/graphql", { method: "POST", headers: { "content-type": type }, body }),
    ).then(answerOf);

  for (const name of ["variables", "extensions"]) {
    for (const value of ["x", "{", "[]", "[1]", "7", '"x"', "true", "{}}", "%7B%22a%22%3A", "{'a':1}"]) {
      it(`answers 400 to ${name}=${value}, in a URL and in a form`, async () => {
        const response = await app.request(`/graphql?${encoded}&${name}=${value}`);
        expect(await answerOf(response)).to.deep.equal([400, "BAD_REQUEST"]);
        const form = await post(`${encoded}&${name}=${value}`, "application/x-www-form-urlencoded");
        expect(form).to.deep.equal([400, "BAD_REQUEST"]);
      });
    }
    it(`accepts ${name} that are an object, null, or empty`, async () => {
      for (const value of ["{}", "null", "", encodeURIComponent('{"a":1}')]) {
        const response = await app.request(`/graphql?${encoded}&${name}=${value}`);
        expect(await answerOf(response), value).to.deep.equal([200, undefined]);
      }
    });
  }

  const bodies: [what: string, body: string][] = [
    ["nothing", ""],
    ["null", "null"],
    ["a number", "7"],
    ["a text", '"x"'],
    ["no JSON", "{"],
    ["an empty list", "[]"],
    ["a batch", JSON.stringify([{ query: QUERY }])],
    ["a batch of nulls", "[null]"],
    ["no query", "{}"],
    ["a query that is null", '{"query":null}'],
    ["a query that is a list", `{"query":["${QUERY}"]}`],
    ["variables that are a text", `{"query":"${QUERY}","variables":"x"}`],
    ["variables that are a list", `{"query":"${QUERY}","variables":[1]}`],
    ["variables that are a number", `{"query":"${QUERY}","variables":7}`],
    ["extensions that are a text", `{"query":"${QUERY}","extensions":"x"}`],
    ["extensions that are a list", `{"query":"${QUERY}","extensions":[]}`],
    ["an operation name that is a number", `{"query":"${QUERY}","operationName":7}`],
    ["an operation name that is an object", `{"query":"${QUERY}","operationName":{}}`],
    ["an unknown parameter", `{"query":"${QUERY}","queries":[]}`],
  ];
  for (const [what, body] of bodies) {
    it(`answers 400 to a body with ${what}`, async () => {
      const [status, code] = await post(body);
      expect(status).to.equal(400);
      expect(code).to.be.a("string").and.not.equal("INTERNAL_SERVER_ERROR");
    });
  }
});
