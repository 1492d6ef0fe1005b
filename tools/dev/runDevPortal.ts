import { TallystickError } from "tallystick-protocol/errors";
import { createServer } from "vite";
import viteConfig from "../../portal/vite.config.mjs";
import { keptNodes } from "../../scripts/demo/runFolder.ts";

/** The paths of the portal's requests to the node. */
const OF_THE_NODE = ["/graphql", "/v1", "/tlog", "/docs", "/openapi.json", "/status"];

/**
 * Serves the portal's sources in front of a running node, and reloads them when they change. Requests of the pages go
 * to the node.
 *
 * @param options.node its address; default the demo that runs from this checkout
 * @returns the portal's address, and a function that ends it
 * @throws TallystickError `no_demo` when there is no node
 */
export async function runDevPortal({ node, port }: { node?: string; port?: number }): Promise<{
  url: string;
  node: string;
  close: () => Promise<void>;
}> {
  const target = node ?? (await keptNodes())[0]?.url;
  if (target === undefined) {
    throw new TallystickError({
      code: "no_demo",
      message: "No demo keeps running from this checkout.",
      hint: "Start one in another terminal with `npm run demo -- --keep`, or name a node with --node.",
    });
  }
  const proxy = Object.fromEntries(
    OF_THE_NODE.map((path) => [path, { target, changeOrigin: true, ws: true }]),
  );
  const server = await createServer({
    ...viteConfig,
    configFile: false,
    logLevel: "warn",
    server: { host: "127.0.0.1", ...(port !== undefined && { port, strictPort: true }), proxy },
  });
  await server.listen();
  const [url = ""] = server.resolvedUrls?.local ?? [];
  return { url, node: target, close: () => server.close() };
}
