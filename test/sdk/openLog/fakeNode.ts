import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { DeriveEvent } from "tallystick-derive/events";
import type { EventLog } from "../../derive/eventLog.ts";

/** The answer of a node to one request. */
export type PageAnswer = {
  status: number;
  headers: { [name: string]: string };
  body: string;
};

export type FakeNode = {
  url: string;
  /** The requested paths since a test last emptied this list. */
  asked: string[];
  /** Changes an answer before it is sent. */
  on: (path: string, answer: PageAnswer) => PageAnswer | Promise<PageAnswer>;
  close: () => Promise<void>;
};

/** Pages of every origin may read the answers, like those of a real node. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "tallystick-lines,retry-after",
};

/**
 * Serves the pages of a log as docs/rest.md describes them. It does not use the indexer's code, which test/indexer
 * tests.
 */
export async function fakeNode(
  log: EventLog,
  events: readonly DeriveEvent[] = log.events,
): Promise<FakeNode> {
  const { store } = await log.derive();
  const lines = events.map((event) => JSON.stringify(event));
  const lineOf = new Map(events.flatMap(({ kind, block }, n) => (kind === "tick" ? [[block, n + 1]] : [])));
  const ticks = [...store.rows("digest").values()].map(({ block, time, digest }) => ({
    block,
    time,
    digest,
    line: lineOf.get(block),
  }));
  const answer = (url: URL): PageAnswer => {
    const number = (name: string, other: number) => Number(url.searchParams.get(name) ?? other);
    const limit = number("limit", 1_000);
    if (url.pathname === "/v1/digests") {
      const found = ticks.filter(
        ({ block }) => block >= number("from", 0) && block <= number("to", Number.POSITIVE_INFINITY),
      );
      const body = JSON.stringify({ digests: found.slice(0, limit), next: found[limit]?.block ?? null });
      return { status: 200, headers: {}, body };
    }
    const after = number("after", 0);
    if (after > lines.length)
      return { status: 400, headers: {}, body: JSON.stringify({ code: "not_in_log", detail: "No." }) };
    const page = lines.slice(after, after + limit);
    return pageAnswer(page, { after, last: lines.length });
  };
  const node: FakeNode = { url: "", asked: [], on: (_, it) => it, close: async () => {} };
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    node.asked.push(path);
    const { status, headers, body } = await node.on(path, answer(new URL(path, "http://node")));
    response.writeHead(status, { ...CORS, ...headers });
    response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  node.close = () =>
    new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return node;
}

/** A page with correct headers. */
export function pageAnswer(page: string[], { after, last }: { after: number; last: number }): PageAnswer {
  const said = `first=${after + 1}, next=${after + page.length + 1}, last=${last}`;
  return {
    status: 200,
    headers: { "tallystick-lines": said },
    body: page.map((line) => `${line}\n`).join(""),
  };
}

/** The lines of an answer. */
export function linesOf({ body }: PageAnswer): string[] {
  return body.split("\n").slice(0, -1);
}
