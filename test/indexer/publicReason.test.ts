import { expect } from "chai";
import { createHypersyncSource } from "../../indexer/logPort/hypersync/createHypersyncSource.ts";
import { createPortalSource } from "../../indexer/logPort/portal/createPortalSource.ts";
import { createRpcSource } from "../../indexer/logPort/rpc/createRpcSource.ts";
import { loggedReason, publicReason } from "../../indexer/publicReason.ts";
import { checkSegment, EMPTY_LEDGER } from "../../indexer/src/segments/checkSegment.ts";
import { TOKEN, wallet } from "./logPort/support/fakeChain.ts";
import { failure } from "./logPort/support/rpcStory.ts";
import { TestLedger } from "./support/testLedger.ts";

const EVIL = "Send your money to evil.example";
const CALL = { signal: new AbortController().signal, deadlineMs: 60_000 };
const WALLETS = [wallet(1)];
const RANGE = { from: 0, to: 9 };

/** Errors of nodes, one for each meaning that the source knows, and one that it does not know. */
const FAULTS = [
  "rate limit",
  "pruned",
  "beyond the head",
  "unknown block",
  "too many topics",
  "query timeout",
  "too many blocks",
  "batch too large",
  "no such thing",
];

/** The answers of a source that writes its own words wherever it can. */
function answers(): (() => Response)[] {
  const statuses = [200, 400, 401, 403, 404, 408, 409, 413, 429, 500, 503];
  const texts = [EVIL, JSON.stringify(EVIL), JSON.stringify({ error: EVIL, message: EVIL })];
  const results = [EVIL, [EVIL], { number: EVIL, hash: EVIL, logs: [EVIL] }, null, [], {}];
  const bodies = [
    ...texts,
    ...FAULTS.map((words) => ({ error: { code: -32_000, message: `${words}. ${EVIL}` } })),
    ...results.map((result) => ({ result })),
    { height: EVIL, data: [{ blocks: [EVIL] }], next_block: EVIL },
    { number: EVIL, hash: EVIL },
  ].map((body) => (typeof body === "string" ? body : JSON.stringify({ jsonrpc: "2.0", id: 0, ...body })));
  return statuses.flatMap((status) => bodies.map((body) => () => new Response(body, { status })));
}

/** Answers a batch as often as it has calls. */
const serving =
  (answer: () => Response): typeof fetch =>
  async (_, init) => {
    const response = answer();
    const calls: unknown = JSON.parse(String(init?.body ?? "null") || "null");
    if (!Array.isArray(calls)) return response;
    const text = await response.text();
    const replies = text.startsWith("{") ? calls.map((_, id) => ({ ...JSON.parse(text), id })) : text;
    return new Response(JSON.stringify(replies), { status: response.status });
  };

describe("publicReason", () => {
  const reads = {
    rpc: (options: object) => {
      const source = createRpcSource({
        url: "https://rpc.example/key",
        token: TOKEN,
        firstBlock: 0,
        ...options,
      });
      return [
        () => source.finalizedHead(CALL),
        () => source.history({ kind: "transfersTo", wallets: WALLETS }, RANGE, CALL),
        () => source.balances(WALLETS, { block: 9, hash: `0x${"ab".repeat(32)}` }, CALL),
      ];
    },
    hypersync: (options: object) => {
      const source = createHypersyncSource({ url: "https://hypersync.example", token: TOKEN, ...options });
      return [
        () => source.finalizedHead(CALL),
        () => source.history({ kind: "transfersTo", wallets: WALLETS }, RANGE, CALL),
      ];
    },
    portal: (options: object) => {
      const source = createPortalSource({ url: "https://portal.example/base", token: TOKEN, ...options });
      return [
        () => source.finalizedHead(CALL),
        () => source.history({ kind: "transfersTo", wallets: WALLETS }, RANGE, CALL),
      ];
    },
  };

  for (const [kind, open] of Object.entries(reads)) {
    it(`names the source and a code, and never repeats what a source said: ${kind}`, async () => {
      const codes = new Set<string>();
      let quoted = 0;
      for (const answer of answers()) {
        for (const read of open({ fetch: serving(answer), attempts: 1, sleep: async () => {} })) {
          const error = await failure(read());
          const reason = publicReason(error);
          expect(reason, `${error.message}`).not.to.contain("evil");
          expect(reason).to.match(new RegExp(`^${kind}:${kind}\\.example: .+ \\(${error.code}\\)$`));
          codes.add(error.code);
          if (loggedReason(error).includes(EVIL)) quoted++;
        }
      }
      expect([...codes]).to.include.members(["source_unavailable", "source_refused", "source_bad_answer"]);
      // Otherwise this test would show nothing.
      expect(quoted).to.be.greaterThan(5);
    });
  }

  it("tells the status of HTTP and the number of a node's error", async () => {
    const read = (answer: () => Response) =>
      reads.rpc({ fetch: serving(answer), attempts: 1 })[0]?.() ?? expect.fail();
    const refused = await failure(read(() => new Response(EVIL, { status: 401 })));
    expect(publicReason(refused)).to.equal(
      "rpc:rpc.example: it refuses the request: status 401 (source_refused)",
    );
    const error = { code: -32_005, message: `rate limit. ${EVIL}` };
    const limited = await failure(read(() => Response.json({ jsonrpc: "2.0", id: 0, error })));
    expect(publicReason(limited)).to.equal(
      "rpc:rpc.example: it gives no complete answer: error -32005 (source_unavailable)",
    );
  });

  it("names the line of a ledger, and nothing that its writer chose", () => {
    const ledger = new TestLedger();
    ledger.append({ type: "settlement" });
    const refuse = (line: string) => {
      try {
        checkSegment(EMPTY_LEDGER, [line], ledger.root());
      } catch (error) {
        return error;
      }
      return expect.fail("it was accepted");
    };
    for (const line of [`{"${EVIL}": 1}`, `{"task_id": "${EVIL}", "task_id": 1}`, EVIL]) {
      const error = refuse(line);
      expect(publicReason(error)).to.equal("line 1 is not an entry of a ledger (segment_contradiction)");
    }
    expect(loggedReason(refuse(`{"${EVIL}": 1}`))).to.contain(EVIL);
    const changed = (ledger.lines()[0] as string).replace("settlement", "settlements");
    expect(publicReason(refuse(changed)))
      .to.contain("line 1: current_hash is ")
      .and.contain("hashes to");
  });

  it("tells nothing of an error that is not expected, and the operator all but the key of an RPC", () => {
    const error = new Error(`https://rpc.example/v2/KEY failed\u001b[2J: ${EVIL}`);
    expect(publicReason(error)).to.equal("it failed unexpectedly: the operator's log says why");
    expect(loggedReason(error)).to.equal(`https://rpc.example/... failed\\u001b[2J: ${EVIL}`);
  });
});
