import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { HEADLINES, type McpMarket } from "./openMcpMarket.ts";

// biome-ignore lint/suspicious/noExplicitAny: a session reads answers of every shape
type Answer = any;

/** One call of a session, exactly as it was sent and answered. */
export type RecordedCall = { tool: string; arguments: object; answer: Answer; isError: boolean };

/** A recorded session of a real MCP client with `tallystick mcp` over stdio. */
export type RecordedSession = { tools: string[]; calls: RecordedCall[] };

const MEDIAN = "compute.statistics.median";

/**
 * Plays a session that uses only MCP tools: it searches, clarifies, hires, verifies, rates, settles actions,
 * and reads the indexer's figures.
 */
export async function recordSession(market: McpMarket): Promise<RecordedSession> {
  const { client, calls, call, callUntil } = await openSession(market);
  try {
    const { tools } = await client.listTools();
    const found = await callUntil(
      "search_agents",
      { capability: HEADLINES, clarification_supported: true },
      ({ agents }) => agents.length > 0,
    );
    const press = found.agents[0].agent_id;
    const brief = "Headlines for a regional newspaper, calm in tone, no puns.";
    const subject = "the night ferry";
    const asked = { agent_id: press, capability: HEADLINES, brief, params: { subject, count: 3 } };
    const { offers } = await call("clarify", asked);
    const hired = await call("hire_agent", {
      capability: HEADLINES,
      quote_token: offers[0].quote_token,
      max_price_usdc: "0.30",
      max_latency_ms: 10_000,
    });
    const order = { capability: MEDIAN, max_price_usdc: "0.05", max_latency_ms: 10_000 };
    await callUntil(
      "search_agents",
      { capability: MEDIAN, max_price_usdc: "0.05" },
      ({ agents }) => agents.length > 0,
    );
    const numbers = { data: [21_000, 34_500, 28_700, 1_250_000, 40_200] };
    await call("hire_agent", { ...order, params: numbers });
    await call("hire_agent", { ...order, params: numbers, payment_mode: "escrow" });
    await call("hire_agent", { ...order, params: { data: ["many"] } });
    await call("verify_receipt", { receipt_hash: hired.receipt_hash });
    await call("rate_agent", { receipt_hash: hired.receipt_hash, stars: 5, comment: "As briefed." });
    await call("get_remaining_budget");
    const deletion = { type: "deletion", path: "/srv/app/build/old", recursive: true };
    const { settlement_token } = await call("settle_action", {
      action: deletion,
      context: { task: "free disk space" },
    });
    await call("check_settlement", { settlement_token, action: deletion });
    await call("check_settlement", {
      settlement_token,
      action: { ...deletion, path: "/srv/app/build/other" },
    });
    await call("settle_action", { action: { ...deletion, path: "/srv/app/build/../../../etc" } });
    await call("settle_action", {
      action: { type: "terminal", program: "rm", args: ["-rf", "/"], cwd: "/" },
    });
    await callUntil(
      "check_reputation",
      { agent_id: press },
      (answer) => answer.total_ratings === 1 && answer.success_rate === 1,
    );
    await call("ledger_status");
    return { tools: tools.map(({ name }) => name), calls };
  } finally {
    await client.close();
  }
}

/** A client of `tallystick mcp` that records its calls. */
async function openSession({ node, network, escrows, buyer, apiKey, mine }: McpMarket) {
  const client = new Client({ name: "recorded-agent", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...nodeProgram("scripts/cli.ts"), "mcp"],
    cwd: repositoryRoot,
    env: childEnvironment({
      TALLYSTICK_URL: node.url,
      TALLYSTICK_PRIVATE_KEY: buyer.privateKey,
      TALLYSTICK_SPEND_CAP_USDC: "1.00",
      TALLYSTICK_MAX_PER_HIRE_USDC: "0.50",
      TALLYSTICK_CHAIN_ID: String(network.chainId),
      TALLYSTICK_TOKEN: network.token,
      TALLYSTICK_ESCROWS: JSON.stringify(escrows),
      TALLYSTICK_API_KEY: apiKey,
      TALLYSTICK_DEV_MODE: "1",
    }) as { [name: string]: string },
    stderr: "inherit",
  });
  await client.connect(transport);
  const calls: RecordedCall[] = [];
  const ask = async (tool: string, args: object = {}): Promise<RecordedCall> => {
    const {
      structuredContent,
      content,
      isError = false,
    } = await client.callTool({
      name: tool,
      arguments: args as { [key: string]: unknown },
    });
    const text = (content as { text: string }[])[0]?.text ?? "";
    return { tool, arguments: args, answer: isError ? text : structuredContent, isError };
  };
  const call = async (tool: string, args: object = {}): Promise<Answer> => {
    const recorded = await ask(tool, args);
    calls.push(recorded);
    return recorded.answer;
  };
  /** Calls a tool again until the indexer has caught up. Only the last call is recorded. */
  const callUntil = async (
    tool: string,
    args: object,
    isThere: (answer: Answer) => boolean,
  ): Promise<Answer> => {
    for (let attempt = 0; ; attempt++) {
      const recorded = await ask(tool, args);
      if ((!recorded.isError && isThere(recorded.answer)) || attempt === 120) {
        calls.push(recorded);
        return recorded.answer;
      }
      await sleep(500);
      if (attempt % 4 === 3) await mine(10);
    }
  };
  return { client, calls, call, callUntil };
}

/** The session as Markdown. Long texts are cut, with a mark. */
export function sessionText({ tools, calls }: RecordedSession): string {
  const parts = [`${tools.length} tools: ${tools.map((name) => `\`${name}\``).join(", ")}.`];
  for (const [at, { tool, arguments: given, answer, isError }] of calls.entries()) {
    const text = isError ? `(error) ${answer}` : JSON.stringify(answer, shortened, 2);
    parts.push(`**${at + 1}. ${tool}**`, `\`\`\`\n→ ${JSON.stringify(given, shortened)}\n← ${text}\n\`\`\``);
  }
  return `${parts.join("\n\n")}\n`;
}

function shortened(key: string, value: unknown): unknown {
  return typeof value === "string" && value.length > 80 && key !== "next_step"
    ? `${value.slice(0, 60)}… (${value.length} characters)`
    : value;
}
