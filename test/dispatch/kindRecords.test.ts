import { expect } from "chai";
import { kindRecords } from "../../services/dispatch/triage/kindRecords.ts";

/** An entry of a dispatcher's task. */
const entry = (kind: string, escalations: object[] = []) =>
  JSON.stringify({
    payload: { agent_metadata: { dispatch: { dispatcher: "me", kind, tier: "cheap", escalations } } },
  });

/** The answer of a ledger's service with entries, of which `size` can be read. */
const answer = (size: number, lines: string[]) =>
  new Response(lines.map((line) => `${line}\n`).join(""), { headers: { "x-ledger-size": String(size) } });

const rangeOf = (url: string) => {
  const { searchParams } = new URL(url);
  return [Number(searchParams.get("from")), Number(searchParams.get("to"))] as const;
};

describe("the ledger's figures for a kind of task", () => {
  const { signal } = new AbortController();

  it("come from at most the last 5,000 entries, however much the ledger says that it has grown", async () => {
    let size = 10;
    let now = 1_000_000;
    const asked: string[] = [];
    const fetch = async (url: string) => {
      const [from, to] = rangeOf(url);
      if (to > from) asked.push(new URL(url).search);
      return answer(
        size,
        [entry("k"), "null", ...Array(Math.max(0, to - from)).fill("7")].slice(0, to - from),
      );
    };
    const settlement = { baseUrl: "http://settlement.example", apiKey: "key", fetch };
    const recordOf = kindRecords(settlement, "me", () => now);
    expect(await recordOf("k", signal)).to.deep.equal({ tasks: 1, escalated: 0 });
    expect(asked).to.deep.equal(["?from=0&to=10"]);
    for (const grown of [1_000_000, Number.MAX_SAFE_INTEGER]) {
      size = grown;
      now += 20_000;
      asked.length = 0;
      await recordOf("k", signal);
      expect(asked).to.have.length(10);
      expect(asked[0]).to.equal(`?from=${grown - 5_000}&to=${grown - 4_500}`);
    }
  });

  it("come from the anchored entries if a node is in front of settlement, and from all of them if it gives few lines at once", async () => {
    const ledger = [entry("k"), entry("k", [{}]), entry("other"), entry("k"), entry("k")];
    let [anchored, now] = [3, 1_000_000];
    const fetch = async (url: string) => {
      // Settlement has entries that are not anchored yet. The node does not give them.
      if (url.includes("/v1/ledger/latest")) return Response.json({ size: ledger.length });
      const [from, to] = rangeOf(url);
      if (to > anchored) return Response.json({ code: "not_in_ledger", status: 400 }, { status: 400 });
      return answer(anchored, ledger.slice(from, Math.min(to, from + 2)));
    };
    const settlement = { baseUrl: "http://node.example", apiKey: "key", fetch };
    const recordOf = kindRecords(settlement, "me", () => now);
    expect(await recordOf("k", signal)).to.deep.equal({ tasks: 2, escalated: 1 });
    [anchored, now] = [ledger.length, now + 20_000];
    expect(await recordOf("k", signal)).to.deep.equal({ tasks: 4, escalated: 1 });
  });
});
