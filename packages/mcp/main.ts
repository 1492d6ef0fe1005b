#!/usr/bin/env node
// tallystick-mcp: the MCP server over stdio, for clients that start a program. Settings: see docs/mcp.md.
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { createTallystickMcp } from "./createTallystickMcp.ts";
import { createMcpContext, readMcpConfig } from "./mcpConfig.ts";

try {
  const config = readMcpConfig(process.env);
  const { stateDir } = config;
  const context = createMcpContext(config, stateDir === undefined ? {} : { store: fileStore(stateDir) });
  // Hires that a crash interrupted are finished before anything new is paid.
  await context.spend?.buyer.resume();
  serveStdio(() => createTallystickMcp(context));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
