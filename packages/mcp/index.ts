/** The MCP server of an agent, for use in other programs. The command `tallystick-mcp` is `main.ts`. */
export { createMcpApp, type McpAppParameters } from "./createMcpApp.ts";
export { createTallystickMcp, MCP_SERVER } from "./createTallystickMcp.ts";
export { createMcpContext, type McpConfig, mcpVariables, readMcpConfig } from "./mcpConfig.ts";
export type { McpContext, McpWallet, SpendCap } from "./mcpContext.ts";
