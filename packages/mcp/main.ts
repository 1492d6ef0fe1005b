#!/usr/bin/env node
// tallystick-mcp: the MCP server over stdio, for clients that start a program. Settings: see docs/mcp.md.
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { createTallystickMcp } from "./createTallystickMcp.ts";
import { createMcpContext, readMcpConfig } from "./mcpConfig.ts";
import { serveAndResume } from "./serveAndResume.ts";
import { plainName } from "./strangersText.ts";

try {
  const config = readMcpConfig(process.env);
  const { stateDir } = config;
  const context = createMcpContext(config, stateDir === undefined ? {} : { store: fileStore(stateDir) });
  const serve = () => serveStdio(() => createTallystickMcp(context));
  await serveAndResume(context, serve, ({ hireId = "", error }) => {
    process.stderr.write(`A hire is unfinished. ${hireId} ${plainName(String(error))}\n`);
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
