import { STATUS_CODES } from "node:http";
import { expect } from "chai";
import type { Hono } from "hono";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { ForeignJsonError } from "tallystick-protocol/json/foreignJson";
import { parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { problem, SHARED_STATUS } from "tallystick-protocol/problem";
import { keeperApp } from "tallystick-sdk/escrow/keeperApp";
import { HireRefusedError } from "tallystick-sdk/seller/sellerErrors";
import { createApi } from "../../../indexer/api/app.ts";
import { node } from "../../indexer/support/apiStory.ts";
import { temporaryFolder } from "../../settlement/support/temporaryFolder.ts";
import { openTestService, type TestService } from "../../settlement/support/testService.ts";

/** The expected answer: the status, and the body without `title`, which follows from the status. */
type ExpectedProblem = { status: number; code: string; detail: string; hint?: string; errors?: object[] };

const SECRET = "password is swordfish";
const hint = "Do it otherwise.";
const internal: ExpectedProblem = {
  status: 500,
  code: "internal",
  detail: "The request could not be served. The cause is in the server's log.",
};
const of = (code: string, more: object = {}) =>
  new TallystickError({ code, message: "It is so.", hint, ...more });
function thrownBy(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

const rows: [what: string, error: unknown, problem: ExpectedProblem][] = [
  ["a fault", new Error(SECRET), internal],
  ["an error of ours that is no fault of the client", of("no_deployment", { hint: SECRET }), internal],
  [
    "an error whose code is the name of a property of every object",
    of("constructor", { field: "toString" }),
    internal,
  ],
  [
    "invalid input, with a hint",
    new InvalidInputError({ issues: [{ field: "from", message: "is late" }], hint }),
    {
      status: 400,
      code: "invalid_input",
      detail: "from: is late",
      hint,
      errors: [{ field: "from", message: "is late" }],
    },
  ],
  [
    "invalid input with another code and two fields",
    new InvalidInputError({
      code: "some_code",
      message: "Two are wrong.",
      issues: [
        { field: "a", message: "is wrong" },
        { field: "b", message: "is too" },
      ],
    }),
    {
      status: 400,
      code: "some_code",
      detail: "Two are wrong.",
      errors: [
        { field: "a", message: "is wrong" },
        { field: "b", message: "is too" },
      ],
    },
  ],
  [
    "text that is not JSON",
    thrownBy(() => parsePythonJson("{")),
    {
      status: 400,
      code: "malformed_json",
      detail: "expected a key in double quotes: the text ends at offset 1",
    },
  ],
  [
    "JSON above the limit",
    new ForeignJsonError("json_too_large", "is longer than 4 characters"),
    {
      status: 413,
      code: "json_too_large",
      detail: "The input: is longer than 4 characters",
      errors: [{ field: "", message: "is longer than 4 characters" }],
    },
  ],
  ...Object.entries(SHARED_STATUS).map(([code, status]): [string, unknown, ExpectedProblem] => [
    `the shared code ${code}, with a field`,
    of(code, { field: "key", details: { secret: SECRET, status: 200 } }),
    { status, code, detail: "It is so.", hint, errors: [{ field: "key", message: "It is so." }] },
  ]),
];

describe("the error answers of servers", () => {
  const folder = temporaryFolder();
  let service: TestService;
  let apps: { [server: string]: () => Promise<Response> | Response };
  let failure: unknown;
  const fail = (): never => {
    throw failure;
  };

  before(async () => {
    service = await openTestService(folder.path);
    service.ledger.verify = async () => fail();
    const broken = new Proxy({}, { get: () => fail }) as never;
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    const api = createApi({ db: broken, operations, node, settlementUrl: null });
    const keeper = keeperApp({
      calls: { requireChain: async () => {}, state: fail } as never,
      keeper: {} as never,
    });
    apps = {
      settlement: () => service.app.request("/v1/ledger/verify"),
      indexer: () => api.request("/v1/params"),
      "a server of the SDK": () => keeper.request(`/escrows/0x${"11".repeat(32)}`),
    };
  });
  after(() => service.close());

  for (const [what, error, problem] of rows) {
    it(`are the same on every server: ${what}`, async () => {
      failure = error;
      for (const [server, ask] of Object.entries(apps)) {
        const response = await ask();
        const text = await response.text();
        expect(response.headers.get("content-type"), server).to.equal("application/problem+json");
        expect(response.status, server).to.equal(problem.status);
        const expected = { ...problem, title: STATUS_CODES[problem.status] };
        expect(JSON.parse(text), server).to.deep.equal(expected);
        expect(text, server).not.to.contain(SECRET);
      }
    });
  }

  it("have the status and the details of a refused hire", async () => {
    failure = new HireRefusedError({
      status: 409,
      code: "not_found",
      message: "Gone.",
      details: { job_id: "job_1", status: 200, title: "OK" },
    });
    const response = await (apps["a server of the SDK"] as () => Promise<Response>)();
    expect([response.status, await response.json()]).to.deep.equal([
      409,
      { code: "not_found", title: "Conflict", status: 409, detail: "Gone.", job_id: "job_1" },
    ]);
  });

  it("have the same title for a status as Node", () => {
    for (const status of [400, 401, 402, 403, 404, 405, 409, 413, 422, 426, 429, 500, 502, 503, 504]) {
      expect(problem(status, "x", "y").title).to.equal(STATUS_CODES[status]);
    }
  });

  it("have status 413 on a keeper for a body that is too large", async () => {
    const logged: string[] = [];
    const keeper: Hono = keeperApp({
      calls: {} as never,
      keeper: {} as never,
      log: (sentence) => logged.push(sentence),
    });
    const response = await keeper.request("/release", { method: "POST", body: "x".repeat(70_000) });
    expect([response.status, (await response.json()).code]).to.deep.equal([413, "payload_too_large"]);
    expect(logged).to.deep.equal([]);
  });
});
