import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { servePortal } from "../../../indexer/api/portal/servePortal.ts";

/** Changes a node's answer to a path (with its query). For a true answer it returns `body` unchanged. */
export type Lie = (path: string, body: string) => string;

export type LyingNode = { url: string; lie: Lie; close: () => Promise<void> };

const HEADERS = ["content-type", "tallystick-as-of", "tallystick-lines"];

/** Serves the portal in front of a real node. A proxy between them changes the node's answers with `lie`. */
export async function openLyingNode(target: string, folder: string): Promise<LyingNode> {
  const node: LyingNode = { url: "", lie: (_, body) => body, close: async () => {} };
  const app = new Hono();
  app.route("/", servePortal(folder));
  app.all("*", async ({ req }) => {
    const { pathname, search } = new URL(req.url);
    const path = `${pathname}${search}`;
    const response = await fetch(`${target}${path}`, {
      method: req.method,
      headers: { "content-type": "application/json" },
      ...(req.method === "POST" && { body: await req.text() }),
    });
    const headers = HEADERS.flatMap((name): [string, string][] => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, node.lie(`${path}#${name}`, value)]];
    });
    const isText = response.headers.get("content-type") !== "application/octet-stream";
    const body = isText ? node.lie(path, await response.text()) : await response.arrayBuffer();
    return new Response(body, { status: response.status, headers });
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  node.close = () =>
    new Promise((closed) => {
      server.close(() => closed());
      if ("closeAllConnections" in server) server.closeAllConnections();
    });
  return node;
}
