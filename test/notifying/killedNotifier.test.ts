import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { readNotice } from "tallystick-sdk/notices/readNotice";
import { privateKeyToAccount } from "viem/accounts";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";
import { compiledOnce, programEndingWithParent } from "../../scripts/processes/nodeProgram.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { suiteFolder } from "../support/suiteFolder.ts";

const KEY = `0x${"62".repeat(32)}` as const;
const SENDER = privateKeyToAccount(KEY).address.toLowerCase() as Address;
const [AGENT, BUYER] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as [Address, Address];
const NOTICES = 12;
/** The number of the notice during which the process is killed. */
const CUT = 6;
/**
 * The clock of the second process is ahead by this many milliseconds. So the second process tries the interrupted
 * notice again at once.
 */
const LATER = 3_600_000;

describe("a sender of notices that is killed", () => {
  const folder = suiteFolder();
  const servers: Server[] = [];
  const running: ChildProcess[] = [];
  after(() => {
    for (const child of running) child.kill("SIGKILL");
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serve(
    answer: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
  ): Promise<string> {
    const server = createServer((request, response) => {
      answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
    });
    servers.push(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A node that reports `NOTICES` breaches. One buyer has subscribed one address to notices about them. */
  async function openNode(url: string): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const steps = Array.from({ length: NOTICES }, (_, n) => ({
      ...{ agent: AGENT, breach: `brch_${String(n).padStart(26, "0")}`, step: "detected", record: null },
      ...{ block: 10, time: now - 60, metric: "uptime", window_days: 7, target: "0.99", value: "0.9" },
      ...{ breach_threshold: "0.95", penalty: { type: "trust_score_reduction", amount: "0.1" } },
      suspension: null,
    }));
    const subscription = {
      ...{ id: `nsub_${"0".repeat(26)}`, buyer: BUYER, url, agents: [AGENT], since: now - 3_600 },
    };
    const answers: { [path: string]: (query: URLSearchParams) => object } = {
      "/v1/ledger/latest": () => ({ ledger: `0x${"1e".repeat(32)}` }),
      "/v1/notices/list": () => ({ subscriptions: [subscription], next: null }),
      "/v1/breach-steps": (query) => ({
        steps: Number(query.get("from_block")) > 10 ? [] : steps,
        ...{ next_cursor: null, final_block: 10 },
      }),
    };
    return await serve(async ({ url: asked = "" }, response) => {
      const { pathname, searchParams } = new URL(asked, "http://node.test");
      response.setHeader("content-type", "application/json");
      response.setHeader("tallystick-as-of", `block=10, time=${now}, digest="0x00"`);
      response.end(JSON.stringify(answers[pathname]?.(searchParams)));
    });
  }

  /** Starts `tallystick notifier` on the suite's folder. The clock of this process is ahead by `aheadMs`. */
  async function start(nodeUrl: string, aheadMs = 0): Promise<{ child: ChildProcess; url: string }> {
    const { args, env, stdio } = programEndingWithParent("scripts/cli.ts");
    const clock = `const real = Date.now; Date.now = () => real() + ${aheadMs};`;
    const child = spawn(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(clock)}`, ...args, "notifier"],
      {
        env: childEnvironment({
          ...{ ...compiledOnce, ...env, NOTIFIER_NODE_URL: nodeUrl, NOTIFIER_PRIVATE_KEY: KEY },
          ...{ NOTIFIER_PORT: "0", NOTIFIER_ROUND_MS: "100", NOTIFIER_DEV_MODE: "1" },
          NOTIFIER_DIR: path.join(folder.path, "notifying"),
        }),
        stdio,
      },
    );
    running.push(child);
    const ended = once(child, "close").then(([code]) => {
      throw new Error(`the notifier ended with ${code}`);
    });
    ended.catch(() => {});
    const [line] = (await Promise.race([once(child.stdout as NodeJS.ReadableStream, "data"), ended])) as [
      Buffer,
    ];
    return { child, url: JSON.parse(String(line)).listening };
  }

  it("sends every notice after its restart, and repeats no acknowledged notice", async () => {
    const answered: string[] = [];
    const cut = Promise.withResolvers<string>();
    const receiver = await serve(async (request, response) => {
      const said = await text(request);
      const { type, body } = JSON.parse(said);
      if (type === "notice_confirmation") return response.end(body.challenge);
      if (answered.length === CUT - 1 && !cutIsOver) {
        cutIsOver = true;
        return cut.resolve(said);
      }
      answered.push(said);
      return response.writeHead(204).end();
    });
    let cutIsOver = false;
    const node = await openNode(`${receiver}/notices`);

    const first = await start(node);
    // The process is killed while it waits for an answer. So it cannot know whether the receiver took this notice.
    const unanswered = await cut.promise;
    first.child.kill("SIGKILL");
    await once(first.child, "close");
    expect(answered).to.have.length(CUT - 1);

    const second = await start(node, LATER);
    const stateOf = async () =>
      (await (await fetch(`${second.url}/health`)).json()) as { [key: string]: number };
    const whole = await waitUntil(
      async () => {
        const state = await stateOf();
        return state.delivered === NOTICES - CUT + 1 && state;
      },
      { what: "the rest of the notices", withinMs: 120_000 },
    );
    // The next rounds find no more notices to send.
    await waitUntil(async () => ((await stateOf()).roundAt ?? 0) > (whole.roundAt ?? 0) + 200, {
      ...{ what: "two more rounds", withinMs: 120_000 },
    });
    const told = answered.map((it) => readNotice(it, { sender: SENDER, buyer: BUYER }).breach);
    expect(told).to.have.length(NOTICES);
    expect(new Set(told).size).to.equal(NOTICES);
    // The second process sent the interrupted notice again, byte for byte.
    expect(answered.filter((it) => it === unanswered)).to.have.length(1);
    second.child.kill("SIGTERM");
    expect((await once(second.child, "close"))[0]).to.equal(0);
  });
});
