import type { Command } from "commander";
import { stderrLog } from "tallystick-runtime/stderrLog";
import { z } from "zod";
import { parseOption } from "../cli/parseOption.ts";
import { serveUntilStopped } from "../cli/serveUntilStopped.ts";

const port = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port")
  .transform(Number);

/** Requests of one address in a minute, with or without the key. */
const REQUESTS_PER_ADDRESS = 6_000;

type Options = { http?: number; host: string };

/** `tallystick mcp`: the MCP server, over stdio, or over HTTP with `--http`. */
export function registerMcp(program: Command): void {
  program
    .command("mcp")
    .description(
      "Serve MCP: agents search, hire, rate, publish and settle actions by tools. Over stdio, or by --http.\n" +
        "TALLYSTICK_URL names the node. Tools that sign need TALLYSTICK_PRIVATE_KEY. Tools that pay also need " +
        "TALLYSTICK_SPEND_CAP_USDC, and TALLYSTICK_ESCROWS to pay into escrows. settle_action needs " +
        "TALLYSTICK_API_KEY, dispatch_task TALLYSTICK_DISPATCH_URL and TALLYSTICK_DISPATCH_KEY.",
    )
    .option("--http <port>", "streamable HTTP at http://HOST:PORT/mcp", parseOption("--http", port))
    .option(
      "--host <host>",
      "with --http: where to listen; beyond this machine TALLYSTICK_MCP_KEY is required",
      "127.0.0.1",
    )
    .action(async ({ http, host }: Options) => {
      // Loaded only now, because the tools load many modules and --help should be quick.
      const { createMcpContext, readMcpConfig } = await import("tallystick-mcp/mcpConfig");
      const { createTallystickMcp } = await import("tallystick-mcp/createTallystickMcp");
      const { fileStore } = await import("tallystick-sdk/store/fileStore");
      const config = readMcpConfig(process.env);
      const { stateDir } = config;
      const context = createMcpContext(config, stateDir === undefined ? {} : { store: fileStore(stateDir) });
      const { serveAndResume } = await import("tallystick-mcp/serveAndResume");
      const start = (serve: () => unknown) =>
        serveAndResume(context, serve, (open) => stderrLog("A hire is unfinished.", open));
      if (http === undefined) {
        const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
        await start(() => serveStdio(() => createTallystickMcp(context)));
        return;
      }
      const { getRequestListener } = await import("@hono/node-server");
      const { createMcpApp } = await import("tallystick-mcp/createMcpApp");
      const { limitsPerAddress } = await import("tallystick-runtime/http/limitsPerAddress");
      const { listen } = await import("tallystick-runtime/http/listen");
      const app = createMcpApp({ context, host, bearerKey: config.mcpKey });
      const serve = async (onFault: (error: unknown) => void) => {
        const { url, close } = await listen(getRequestListener(app.fetch), {
          host,
          port: http,
          settings: "--host and --http",
          limits: limitsPerAddress({
            requestsPerAddress: REQUESTS_PER_ADDRESS,
            trustedProxies: 0,
            // A call may take long, because it waits for a hire.
            atOnce: 0,
          }),
          onFault,
        });
        return { url: `${url}/mcp`, close };
      };
      await start(() => serveUntilStopped(serve));
    });
}
