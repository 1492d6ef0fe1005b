import { expect } from "chai";
import { settlementRoutes } from "../../../indexer/api/settlementRoutes.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService, type TestService } from "../support/testService.ts";

const KEYED = ["GET /v1/reviews", "GET /v1/reviews/:id", "POST /v1/actions", "POST /v1/settle"];

/** The routes that anybody may call. Records and reviews are signed, and the others only read public data. */
const OPEN = [
  /^GET \/(?:health|metrics)$/,
  /^GET \/v1\/(?:ledger\/[a-z-]+|status\/:[a-z_]+|context|rules)$/,
  /^GET \/tlog\//,
  /^POST \/(?:telemetry|v1\/(?:listings|receipts|rate|stake|verify|contest|params|records|pulse|claim|claim\/verify))$/,
  /^POST \/v1\/reviews\/:id$/,
  // The signer of a file must have an entry in the ledger.
  /^(?:GET \/v1\/erc8004\/(?:files\/:name|hire-proof)|POST \/v1\/erc8004\/files)$/,
  // A buyer's or the notifier's own signature says who asks.
  /^(?:GET \/v1\/notices|POST \/v1\/notices(?:\/list)?)$/,
];

describe("the routes of settlement that need a key", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path);
  });
  afterEach(() => service.close());

  it("are exactly these, and all others are open on purpose", () => {
    const routes = service.app.routes.filter(({ method }) => method !== "ALL");
    const names = [...new Set(routes.map(({ method, path }) => `${method} ${path}`))].sort();
    expect(names).to.include.members(KEYED);
    const unknown = names.filter((name) => !KEYED.includes(name) && !OPEN.some((it) => it.test(name)));
    expect(unknown).to.deep.equal([]);
  });

  it("are known to the indexer's API, which forwards every route except its own", () => {
    const forwarded = settlementRoutes.map(
      ({ method, path, pattern = path.replaceAll(/\{(\w+)\}/g, ":$1") }) =>
        `${method.toUpperCase()} ${pattern}`,
    );
    const own = ["GET /health", "GET /metrics", "GET /v1/ledger/entries"];
    const routes = service.app.routes.filter(({ method }) => method !== "ALL");
    const names = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    expect([...forwarded, ...own].sort()).to.deep.equal([...names].sort());
    const keyed = settlementRoutes.filter(({ needsKey }) => needsKey);
    expect(keyed.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).to.deep.equal(
      KEYED.map((route) => route.replace(":id", "{id}")).sort(),
    );
  });

  for (const route of KEYED) {
    it(`include ${route}, which answers 401 without a key to any body`, async () => {
      const [method = "", path = ""] = route.split(" ");
      const target = path.replace(":id", "0".repeat(64));
      for (const authorization of [
        undefined,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        `Basic ${API_KEY}`,
        API_KEY,
      ]) {
        for (const body of method === "POST" ? ["{}", "no JSON", ""] : [undefined]) {
          const response = await service.app.request(target, {
            method,
            headers: { ...(authorization !== undefined && { authorization }) },
            ...(body !== undefined && { body }),
          });
          expect(response.status, `${authorization} ${body}`).to.equal(401);
          expect(response.headers.get("www-authenticate")).to.match(/^Bearer/);
        }
      }
      const known = await service.app.request(target, {
        method,
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      expect(known.status).not.to.equal(401);
    });
  }
});
