#!/usr/bin/env node
// tallystick-mcp: the MCP server over stdio, for clients that start a program. Settings: see docs/mcp.md.
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { createTallystickMcp } from "./createTallystickMcp.ts";
import { createMcpContext, readMcpConfig } from "./mcpConfig.ts";
import { serveAndResume } from "./serveAndResume.ts";

try {
  const config = readMcpConfig(process.env);
  const { stateDir } = config;
  const context = createMcpContext(config, stateDir === undefined ? {} : { store: fileStore(stateDir) });
  const serve = () => serveStdio(() => createTallystickMcp(context));
  await serveAndResume(context, serve, ({ hireId = "", error }) => {
    // The error may quote a stranger, so it gets one line of plain characters.
    const text = String(error)
      .replace(/[^\x21-\x7e]+/g, " ")
      .slice(0, 128);
    process.stderr.write(`A hire is unfinished. ${hireId} ${text}\n`);
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
