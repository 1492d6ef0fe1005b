import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { AuditVerification } from "../../../scripts/audits/verifyAudit.ts";
import { fetchWhenServed } from "./indexerProcess.ts";

/** How a lying node changes its answers: the lines of its log, and GraphQL's answer about an audit. */
export type Lie = { lines?: (lines: string[]) => string[]; audit?: (audit: string) => string };

/** Lies about an audited hire, each with the error that a check must report. */
export function auditLies(hire: string, { draw, asked }: AuditVerification): [Lie, RegExp][] {
  const [tx = "", log = ""] = hire.split("-");
  const other = `0x${"99".repeat(32)}`;
  const isTick = (line: string) => line.includes(`"block":${draw?.block},`) && line.includes('"kind":"tick"');
  const isPayment = (line: string) => line.includes('"kind":"transfer"') && line.includes(`"tx":"${tx}"`);
  const isReceipt = (line: string) => line.includes('"type":"receipt"') && line.includes(`"tx_hash":"${tx}"`);
  const [first, second] = asked.map(({ auditor }) => auditor);
  const unknown = () => "null";
  return [
    // All answers of this node agree with each other. Only the chain shows the lie.
    [
      {
        lines: (lines) => lines.map((it) => (isTick(it) ? it.replace(draw?.hash ?? "", other) : it)),
        audit: (it) => it.replaceAll(draw?.hash ?? "", other),
      },
      new RegExp(`tick of block ${draw?.block} has the hash ${other} in the log`),
    ],
    [
      { lines: (lines) => lines.filter((it) => !isTick(it)), audit: (it) => it },
      new RegExp(`no tick between blocks ${(draw?.block ?? 0) - 1} and`),
    ],
    [
      { audit: (it) => it.replace(first ?? "", second ?? "") },
      new RegExp(
        `round 1, attempt 1 the node says that ${second} .* According to its log, it had to be ${first}`,
      ),
    ],
    [{ audit: (it) => it.replace(/"rounds":.*\}\]\}\]/, '"rounds":[]') }, /says that nobody was asked/],
    [{ audit: unknown }, /its log gives one/],
    [
      { lines: (lines) => lines.filter((it) => !isPayment(it)), audit: unknown },
      new RegExp(`the payment ${tx}-${log}`),
    ],
    [
      { lines: (lines) => lines.filter((it) => !isReceipt(it)), audit: unknown },
      /leaves out, or changes, the records/,
    ],
    [
      {
        lines: (lines) =>
          lines.map((it) => (isPayment(it) ? it.replace('"authorized":true', '"authorized":false') : it)),
        audit: unknown,
      },
      new RegExp(`the payment ${tx}-${log}`),
    ],
  ];
}

/** Starts a proxy that gives another node's answers, except for one lie. */
export async function startLyingProxy(url: string, { lines: told, audit }: Lie) {
  const honest = (await (await fetchWhenServed(`${url}/v1/events?limit=5000`)).text())
    .split("\n")
    .filter((it) => it !== "");
  const lines = told?.(honest) ?? honest;
  const server = createServer(async (request, response) => {
    const asked = new URL(request.url ?? "", url);
    if (asked.pathname === "/v1/events") {
      const after = Number(asked.searchParams.get("after"));
      const page = lines.slice(after, after + Number(asked.searchParams.get("limit")));
      const place = `first=${after + 1}, next=${after + page.length + 1}, last=${lines.length}`;
      response.setHeader("tallystick-lines", place);
      response.end(page.map((line) => `${line}\n`).join(""));
      return;
    }
    const body = request.method === "POST" ? await text(request) : undefined;
    const headers = { "content-type": request.headers["content-type"] ?? "application/json" };
    const answer = await fetchWhenServed(asked.href, {
      method: request.method,
      body,
      headers,
    } as RequestInit);
    let said = await answer.text();
    const isAudit = /query Audit\b/.test(body ?? "");
    if (isAudit && audit !== undefined) {
      const told = JSON.parse(said).data.audit;
      said = JSON.stringify({ data: { audit: JSON.parse(audit(JSON.stringify(told))) } });
    }
    response.statusCode = answer.status;
    response.end(said);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
