import { writeFileSync } from "node:fs";
import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { ledgerText } from "../support/expectProblem.ts";
import { KEY, proposal } from "../support/proposals.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { openTestService, type TestService } from "../support/testService.ts";

describe("reading from the settlement service", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path);
  });
  afterEach(() => service.close());

  async function settle(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const { json } = await service.post("/v1/settle", proposal(service.ledger.head), KEY);
      expect(json.status).to.equal("SETTLED");
    }
  }

  it("GET /v1/ledger/latest gives size, hash and root; the hash of an empty ledger is 64 zeros", async () => {
    expect((await service.get("/v1/ledger/latest")).json).to.deep.equal({
      ledger: "local",
      origin: "tallystick.local/ledger",
      size: 0,
      hash: GENESIS_HASH,
      root: "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    });
    await settle(2);
    const { json } = await service.get("/v1/ledger/latest");
    expect(json).to.include({ size: 2, hash: service.ledger.head });
  });

  it("GET /v1/ledger/verify reads the file again and names the first bad line", async () => {
    await settle(3);
    const good = await service.get("/v1/ledger/verify");
    expect(good.json).to.deep.include({ valid: true, size: 3, hash: service.ledger.head });
    const [first, second, third] = ledgerText(service).trimEnd().split("\n") as [string, string, string];
    writeFileSync(
      service.ledger.path,
      `${[first, second.replace("be kind", "be rude"), third].join("\n")}\n`,
    );
    const bad = await service.get("/v1/ledger/verify");
    expect(bad.json).to.include({ valid: false, line: 2 });
    expect(bad.json.reason).to.match(/^current_hash is /);
  });

  it("GET /v1/ledger/entries gives any segment as canonical lines", async () => {
    await settle(4);
    const lines = ledgerText(service).split("\n");
    const all = await service.get("/v1/ledger/entries");
    expect([all.status, all.type, all.text]).to.deep.equal([200, "application/jsonl", ledgerText(service)]);
    expect((await service.get("/v1/ledger/entries?from=1&to=3")).text).to.equal(`${lines[1]}\n${lines[2]}\n`);
    expect((await service.get("/v1/ledger/entries?from=4&to=4")).text).to.equal("");
  });

  for (const [query, fields] of [
    ["from=-1", ["from"]],
    ["from=x", ["from"]],
    ["to=1.5", ["to"]],
    ["from=0&to=1", ["to"]],
    ["from=1", ["from", "to"]],
    ["from=99999999999999999999", ["from"]],
  ] as const) {
    it(`GET /v1/ledger/entries answers 400 to ${query} on an empty ledger`, async () => {
      const answer = await service.get(`/v1/ledger/entries?${query}`);
      expect(answer.status).to.equal(400);
      expect(answer.json.errors.map((error: { field: string }) => error.field)).to.deep.equal(fields);
    });
  }

  it("GET /v1/context gives the requested keys and core_logic, and the head of the ledger", async () => {
    await settle(1);
    const response = await service.app.request("/v1/context?keywords=budget,unknown");
    expect(await response.text()).to.equal('{"budget": 100, "core_logic": "be kind"}');
    expect(response.headers.get("x-parent-hash")).to.equal(service.ledger.head);
    expect((await service.get("/v1/context")).json).to.deep.equal({ core_logic: "be kind" });
  });

  it("GET /v1/context gives at most 64 keys, because each value may be long and anybody may ask", async () => {
    const ask = (count: number) =>
      service.get(`/v1/context?keywords=${Array.from({ length: count }, (_, n) => `k${n}`).join(",")}`);
    expect((await ask(64)).status).to.equal(200);
    const { status, json } = await ask(65);
    expect([status, json.errors?.[0].field]).to.deep.equal([400, "keywords"]);
  });

  it("GET /v1/status pages through a long history, and finds task and hash for any payload", async () => {
    const decoy = '", "task_id": "decoy", "timestamp": 1}';
    const names = ["long", 'lo"ng, "task_id": "x', "other"];
    const appended = Array.from({ length: 90 }, (_, n) =>
      service.ledger.append({
        timestamp: n + 0.5,
        taskId: names[n % 3] as string,
        payload: { decoy, task_id: "decoy", nested: { task_id: decoy } },
      }),
    );
    await Promise.all(appended.map(({ durable }) => durable));
    const entries = await Promise.all(appended.map(({ index }) => service.ledger.entry(index)));
    for (const name of names.slice(0, 2)) {
      const seen: unknown[] = [];
      let at = `/v1/status/${encodeURIComponent(name)}?limit=7`;
      const wanted = entries.flatMap((entry, n) =>
        entry.taskId === name
          ? [
              {
                hash: entry.currentHash,
                index: appended[n]?.index,
                timestamp: Number(entry.timestamp),
                parent_hash: entry.parentHash,
              },
            ]
          : [],
      );
      for (let page = at; ; ) {
        const { json } = await service.get(page);
        expect(json.history.length).to.be.at.most(7);
        const { hash, index } = wanted.at(-1) as (typeof wanted)[number];
        expect(json, "the latest entry, on each page").to.include({ status: "SETTLED", hash, index });
        seen.unshift(...json.history);
        if (json.next === null) break;
        page = `${at}&before=${json.next}`;
      }
      expect(seen).to.deep.equal(wanted);
      at = `/v1/status/${encodeURIComponent(name)}`;
      expect((await service.get(at)).json.history).to.have.length(20);
    }
    for (const query of ["limit=0", "limit=101", "limit=x", "before=99999", `before=${appended[2]?.index}`]) {
      expect((await service.get(`/v1/status/long?${query}`)).status, query).to.equal(400);
    }
  });

  it("GET /v1/status gives the latest entry and the history of a task, and 404 for an unknown one", async () => {
    await settle(2);
    const { json } = await service.get("/v1/status/task-1");
    expect(json).to.include({ task_id: "task-1", status: "SETTLED", hash: service.ledger.head, index: 1 });
    expect(json.history.map((entry: { index: number }) => entry.index)).to.deep.equal([0, 1]);
    const unknown = await service.get("/v1/status/nothing");
    expect([unknown.status, unknown.json.code]).to.deep.equal([404, "unknown_task"]);
  });

  it("GET /health shows that the service runs", async () => {
    expect((await service.get("/health")).json).to.include({
      status: "ok",
      size: 0,
      held: 0,
      anchoring: null,
    });
  });

  it("answers unknown routes with 404 and a problem", async () => {
    const answer = await service.get("/v1/nothing");
    expect([answer.status, answer.type, answer.json.code]).to.deep.equal([
      404,
      "application/problem+json",
      "not_found",
    ]);
  });

  it("measures requests by route template and class of status, whatever paths strangers request", async () => {
    for (const path of ["/v1/status/a", "/v1/status/b", "/v1/nothing/1", "/v1/nothing/2", "/v1/settle"])
      await service.get(path);
    await service.post("/v1/settle", proposal(service.ledger.head), KEY);
    const { text } = await service.get("/metrics");
    const counts = [...text.matchAll(/^tallystick_http_request_seconds_count\{(.+)\} (\d+)$/gm)];
    const of = Object.fromEntries(
      counts.map(([, labels = "", count]) => [labels.replaceAll('"', ""), count]),
    );
    expect(of).to.include({
      "route=/v1/status/:task_id,status=4xx": "2",
      "route=other,status=4xx": "2",
      "route=/v1/settle,status=4xx": "1",
      "route=/v1/settle,status=2xx": "1",
    });
    expect(text).not.to.contain("nothing");
    expect(Number(/^tallystick_fsync_seconds_count (\d+)$/m.exec(text)?.[1])).to.be.at.least(1);
  });
});
