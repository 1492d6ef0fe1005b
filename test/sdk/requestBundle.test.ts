import { expect } from "chai";
import { requestBundle } from "tallystick-sdk/proof/requestBundle";
import { KEY, proposal } from "../settlement/support/proposals.ts";
import { openTestService, type TestService } from "../settlement/support/testService.ts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { rejection } from "./support/tamper.ts";

const PENDING = { code: "checkpoint_pending", detail: "The next checkpoint is not ready yet." };

describe("the proof of an entry that a client asks for", () => {
  const folder = suiteFolder();
  let service: TestService;
  let hash: string;
  let asked: string[];

  before(async () => {
    service = await openTestService(folder.path);
    hash = (await service.post("/v1/settle", proposal(service.ledger.head), KEY)).json.hash;
  });
  after(() => service?.close());
  beforeEach(() => {
    asked = [];
  });

  /** A node whose next checkpoint is ready after so many requests. */
  const nodeReadyAfter = (requests: number) => async (url: string) => {
    asked.push(url);
    if (asked.length <= requests) return Response.json(PENDING, { status: 503 });
    return await service.app.request(url);
  };
  const request = (requests: number, of = hash) =>
    requestBundle({
      baseUrl: "http://node.test",
      hash: of,
      fetch: nodeReadyAfter(requests) as typeof fetch,
      pauseMs: 1,
    });

  it("is asked for again while the next checkpoint is not ready", async () => {
    const bundle = await request(3);
    expect(bundle.entry).to.contain(hash);
    expect(asked).to.deep.equal(Array(4).fill(`http://node.test/v1/ledger/bundle?hash=${hash}`));
  });

  it("is asked for four times at most", async () => {
    expect(await rejection(request(9))).to.include({ code: "checkpoint_pending" });
    expect(asked).to.have.length(4);
  });

  it("is asked for once if the ledger has no such entry", async () => {
    expect(await rejection(request(0, "ab".repeat(32)))).to.include({ code: "not_in_ledger" });
    expect(asked).to.have.length(1);
  });

  it("is not asked for again after the caller stopped waiting", async () => {
    const waiting = requestBundle({
      ...{ baseUrl: "http://node.test", hash, fetch: nodeReadyAfter(9) as typeof fetch, pauseMs: 600_000 },
      signal: AbortSignal.timeout(20),
    });
    expect((await rejection(waiting)).name).to.equal("TimeoutError");
  });
});
