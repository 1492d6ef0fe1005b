import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Hono } from "hono";
import { createApi } from "../../../indexer/api/app.ts";

const dependencies = {
  db: undefined as never,
  operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
  node: { chainId: 1, token: "0x" },
};

describe("the settlement routes of the indexer's origin", () => {
  let settlement: Server;
  let app: Hono;
  let seen: { request: IncomingMessage; body: string } | undefined;

  before(async () => {
    settlement = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      seen = { request, body: Buffer.concat(chunks).toString() };
      response.writeHead(409, { "content-type": "application/problem+json", "x-inner": "kept inside" });
      response.end('{"code":"drift"}');
    });
    await new Promise<void>((resolve) => settlement.listen(0, "127.0.0.1", resolve));
    const { port } = settlement.address() as AddressInfo;
    app = createApi({ ...dependencies, settlementUrl: `http://127.0.0.1:${port}` });
  });
  after(() => settlement.close());
  beforeEach(() => {
    seen = undefined;
  });

  const routes: [method: string, path: string][] = [
    ["POST", "/v1/settle"],
    ["GET", "/v1/context?keywords=a%20b"],
    ["GET", "/v1/status/task-1"],
    ["GET", "/v1/ledger/latest"],
    ["POST", "/v1/listings"],
    ["POST", "/v1/receipts"],
    ["POST", "/v1/rate"],
    ["POST", "/v1/claim"],
    ["POST", "/v1/claim/verify"],
    ["POST", "/telemetry"],
    ["POST", "/v1/stake"],
    ["POST", "/v1/verify"],
    ["POST", "/v1/contest"],
    ["POST", "/v1/params"],
    ["POST", "/v1/records"],
    ["GET", "/v1/rules"],
    ["GET", "/v1/reviews"],
    ["GET", "/v1/reviews/ab"],
    ["POST", "/v1/reviews/ab"],
    ["GET", "/tlog/tile/entries/x001/000.p/17"],
  ];
  for (const [method, path] of routes) {
    it(`include ${method} ${path}: the request goes to settlement unchanged, and the answer comes back unchanged`, async () => {
      const body = method === "POST" ? '{"é": 1.0}' : null;
      const headers = { authorization: "Bearer key", "content-type": "application/json", cookie: "mine" };
      const response = await app.request(path, { method, body, headers });
      expect(seen?.request).to.include({ method, url: path });
      expect(seen?.body).to.equal(body ?? "");
      expect(seen?.request.headers).to.include({
        authorization: "Bearer key",
        "content-type": "application/json",
      });
      expect(seen?.request.headers).not.to.have.property("cookie");
      expect(response.status).to.equal(409);
      expect(response.headers.get("content-type")).to.equal("application/problem+json");
      expect(response.headers.get("x-inner")).to.equal(null);
      expect(await response.text()).to.equal('{"code":"drift"}');
    });
  }

  async function problemOf(response: Response): Promise<{ status: number; code: string }> {
    expect(response.headers.get("content-type")).to.equal("application/problem+json");
    const { code } = (await response.json()) as { code: string };
    return { status: response.status, code };
  }

  it("are the only ones that are forwarded", async () => {
    for (const [method, path] of [
      ["GET", "/v1/settle"],
      ["GET", "/v1/agents"],
      ["DELETE", "/v1/listings"],
    ] as const) {
      const response = await app.request(path, { method });
      expect(await problemOf(response), path).to.deep.equal({ status: 404, code: "not_found" });
    }
    expect(seen).to.equal(undefined);
  });

  it("are described with the query parameters that settlement requires", async () => {
    const response = await app.request("/openapi.json");
    type Parameter = { in: string; name: string; required?: boolean };
    const { paths } = (await response.json()) as {
      paths: { [path: string]: { [method: string]: { tags?: string[]; parameters?: Parameter[] } } };
    };
    const required = Object.entries(paths).flatMap(([path, operations]) =>
      Object.values(operations)
        .filter(({ tags }) => tags?.includes("Settlement"))
        .flatMap(({ parameters = [] }) => parameters.filter((it) => it.in === "query" && it.required))
        .map(({ name }) => `${path}?${name}`),
    );
    expect(required).to.deep.equal(["/v1/erc8004/hire-proof?receipt"]);
  });

  it("refuse huge bodies", async () => {
    const response = await app.request("/v1/receipts", { method: "POST", body: "x".repeat(300_000) });
    expect(await problemOf(response)).to.deep.equal({ status: 413, code: "payload_too_large" });
    expect(seen).to.equal(undefined);
  });

  it("report when there is no settlement service, or when the service does not answer", async () => {
    const none = createApi({ ...dependencies, settlementUrl: null });
    expect(await problemOf(await none.request("/v1/ledger/latest"))).to.deep.equal({
      status: 503,
      code: "settlement_not_configured",
    });
    const gone = createApi({ ...dependencies, settlementUrl: "http://127.0.0.1:1" });
    expect(await problemOf(await gone.request("/v1/ledger/latest"))).to.deep.equal({
      status: 502,
      code: "settlement_unreachable",
    });
  });
});
