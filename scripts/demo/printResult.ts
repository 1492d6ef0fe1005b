import { styleText } from "node:util";
import Table from "cli-table3";
import { actors, agents, nameOf } from "./actors.ts";
import { type AgentAnswer, type Answer, slasOf } from "./readBack.ts";
import type { StoryResult } from "./runStory.ts";
import type { DemoNode } from "./startDemoNode.ts";

/** A query to paste into GraphiQL. */
export const QUERY_TO_PASTE = `{
  agents(first: 20) { nodes { address trustTier successRate last30dHireCount last30dHireCountRaw clusterSize } }
  meta { block digest ledgers { size root } }
}`;

const bold = (text: string) => styleText("bold", text);
const dim = (text: string) => styleText("dim", text);
const green = (text: string) => styleText("green", text);
const yellow = (text: string) => styleText("yellow", text);

/** The table of agents, as read back through GraphQL. */
export function agentTable(answers: AgentAnswer[]): string {
  const byAddress = new Map(answers.map((it) => [it.address, it]));
  const table = new Table({
    head: ["agent", "hires", "success", "volume", "refunded", "tier", "cluster", "bought"].map(bold),
    colAligns: ["left", "right", "right", "right", "right", "right", "left", "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const { address, name } of agents) {
    const agent = byAddress.get(address);
    if (!agent) continue;
    const { last30dHireCount: weighted, last30dHireCountRaw: raw } = agent;
    table.push([
      `${name} ${dim(`${address.slice(0, 6)}…${address.slice(-4)}`)}`,
      weighted === raw ? String(raw) : yellow(`${weighted} of ${raw}`),
      percent(agent.successRate),
      agent.last24hVolumeUsdc === "0.00" ? dim("–") : `$${agent.last24hVolumeUsdc}`,
      percent(agent.refundRate),
      agent.trustTier > 0 ? green(String(agent.trustTier)) : String(agent.trustTier),
      agent.clusterId === null ? dim("–") : yellow(`${agent.clusterSize}: ${agent.clusterId.slice(0, 9)}…`),
      agent.hiresBought === 0 ? dim("–") : String(agent.hiresBought),
    ]);
  }
  return table.toString();
}

/** The three hires that were drawn, their results, and who judged them. */
function auditLines({ audits }: Answer): string[] {
  const judgesOf = (seller: string) => {
    const rounds = audits.nodes.find(({ sellerAddress }) => sellerAddress === seller)?.rounds ?? [];
    return rounds.flatMap(({ attempts }) => attempts.map((it) => nameOf(it.auditorAddress))).join(" and ");
  };
  const { mirage, pewter, sterling } = actors;
  return [
    `mirage's summary passed every check; in an audit ${judgesOf(mirage.address)} failed it, so it is not a success`,
    `sterling's buyer took good work and its money back; in an audit ${judgesOf(sterling.address)} passed it, so it is not a failure`,
    `pewter's buyer took bad work and its money back; in an audit ${judgesOf(pewter.address)} failed it, so it stays a failure`,
  ];
}

/** The state of each SLA, and what broke it. */
function slaLines(answer: Answer): string[] {
  return slasOf(answer).flatMap(({ address, overallStatus, breaches }) =>
    breaches.flatMap(({ metric, value, steps }) => [
      `${nameOf(address)} promised its ${metric}; probers measured ${percent(value)}: ${steps.join(", ")}`,
      `search left ${nameOf(address)} out during its suspension; this is over, and ${nameOf(address)} is ${overallStatus}`,
    ]),
  );
}

function percent(rate: number | null): string {
  return rate === null ? dim("–") : `${(rate * 100).toFixed(rate === 0 || rate === 1 ? 0 : 1)} %`;
}

/** The text that the demo prints at its end. */
export function resultText(node: DemoNode, { answer, target, rewrite }: StoryResult, keep: boolean): string {
  const ledger = answer.meta.ledgers[0];
  return [
    "",
    ...(keep ? [`${bold("Portal")}   ${node.url}/`, ""] : []),
    agentTable(answer.agents.nodes),
    "",
    `${bold("Ledger")}   ${ledger?.size} entries, root ${target.root}`,
    "         the same on the chain, in the indexer, and in the file",
    `${bold("Digest")}   ${answer.meta.digest} at block ${answer.meta.block}`,
    `${bold("Ring")}     ring-1 sold 20 perfect hires; they count as 4, because buyers and seller got their money from one wallet`,
    `${bold("Audits")}   ${auditLines(answer).join("\n         ")}`,
    `${bold("SLA")}      ${slaLines(answer).join("\n         ")}`,
    "",
    `${bold("The operator rewrites line")} ${bold(String(rewrite.line))}${bold(", a failed hire, into a success:")}`,
    ...indent(shortHashes(rewrite.verifyLedger.edited)),
    bold("It computes every later hash again, so that the file verifies, and sends the anchor:"),
    `  transaction ${rewrite.anchor.transaction}`,
    `  refused by the contract with ${rewrite.anchor.refusedWith}`,
    "",
    `${bold("GraphQL")}  ${node.url}/graphql${keep ? "" : dim("  (it ends with the demo; --keep leaves it running)")}`,
    ...indent(QUERY_TO_PASTE),
    "",
  ].join("\n");
}

/**
 * What the reader can do with a node that keeps running.
 *
 * @param escrow the id of an escrow that is held
 */
export function keepText(node: DemoNode, escrow: string): string {
  const command = "npm run -s tallystick --";
  return [
    `${bold("It keeps running.")} Open the GraphQL URL in a browser, or in another terminal:`,
    `  export DATABASE_URL=${node.databaseUrl}`,
    `  ${command} rederive`,
    `  ${command} export -o events.jsonl`,
    `  ${command} verify-ledger ${node.ledgerFile}`,
    `  curl ${node.url}/v1/ledger/latest`,
    "  npm run dev                         # another API over its rows, started again whenever its code changes",
    `${bold("To sell and to hire on it")} (docs/sdk.md):`,
    `  export TALLYSTICK_URL=${node.url} RPC_URL=${node.rpcUrl} CHAIN_ID=${node.deployment.chainId} \\`,
    `    TOKEN_ADDRESS=${node.deployment.token} \\`,
    `    ESCROWS=${node.deployment.hireEscrow.address}=${node.deployment.hireEscrow.providerId}`,
    `  ${command} example seller           # and in a third terminal, with the same settings:`,
    `  ${command} example buy-direct`,
    `  ${command} example buy-by-escrow`,
    `${bold("An escrow to look at:")} ${node.url}/#/escrow/${escrow}`,
    `  acme bought, and a wallet with its key ${actors.acme.privateKey} releases it`,
    `${bold("To have models work for it")} (docs/dispatch.md):`,
    `  export DISPATCH_SETTLEMENT_URL=${node.settlementUrl} DISPATCH_SETTLEMENT_KEY=${node.settlementKey}`,
    `Chain ${node.rpcUrl} · settlement ${node.settlementUrl} · logs ${node.logs}`,
    `${bold("To stop it:")} Ctrl-C here, or kill ${process.pid}`,
    "",
  ].join("\n");
}

/** Shortens hashes so that a reader can compare them. */
function shortHashes(text: string): string {
  return text.replaceAll(/\b([0-9a-f]{12})[0-9a-f]{52}\b/g, "$1…");
}

/** The same result as JSON, for programs. */
export function resultJson(
  node: DemoNode,
  { answer, target, rewrite }: StoryResult,
  seconds: number,
): object {
  return {
    ok: true,
    seconds: Number(seconds.toFixed(1)),
    graphql: `${node.url}/graphql`,
    url: node.url,
    rpcUrl: node.rpcUrl,
    settlementUrl: node.settlementUrl,
    databaseUrl: node.databaseUrl,
    ledgerFile: node.ledgerFile,
    logs: node.logs,
    pid: process.pid,
    deployment: node.deployment,
    ledger: { id: node.ledger, size: target.size, root: target.root },
    block: answer.meta.block,
    digest: answer.meta.digest,
    agents: answer.agents.nodes.map((agent) => ({ name: nameOf(agent.address), ...agent })),
    clusters: answer.clusters.nodes.map(({ id, size }) => ({ id, size })),
    audits: answer.audits.nodes,
    slas: slasOf(answer).map((sla) => ({ name: nameOf(sla.address), ...sla })),
    rewrite,
  };
}

function indent(text: string): string[] {
  return text.split("\n").map((line) => `  ${line}`);
}
