import type { Command } from "commander";
import { httpSetting } from "tallystick-runtime/configuration/settings";
import { plainJson } from "tallystick-runtime/plainText";
import { compareNodes, type NodeComparison } from "tallystick-sdk/openLog/compareNodes";
import { printable } from "tallystick-sdk/openLog/printable";
import { parseOption } from "../cli/parseOption.ts";

/** The most nodes of one comparison. */
const MAX_NODES = 10;

/** `tallystick compare URL URL…`: whether nodes say the same, and if not, from which tick and line on. */
export function registerCompare(program: Command): void {
  const read = parseOption("URL", httpSetting);
  program
    .command("compare")
    .description(
      "Compare the digests of nodes at every tick that all of them have. Exit 1 at a difference, and name " +
        "the first tick at which they differ, and the line of the event log if the logs differ.",
    )
    .argument("<url...>", "addresses of two nodes or more", (url: string, before: string[] = []) => [
      ...before,
      read(url),
    ])
    .option("--json", "print the result as JSON")
    .action(async (urls: string[], { json }: { json?: boolean }, command: Command) => {
      if (urls.length < 2 || urls.length > MAX_NODES)
        command.error(`error: Give from two to ${MAX_NODES} addresses.`, { exitCode: 2 });
      const comparison = await compareNodes(urls);
      process.stdout.write(json ? `${plainJson(comparison, 2)}\n` : describe(comparison, urls));
      if (comparison.difference !== null) process.exitCode = 1;
    });
}

function describe({ ticks, block, difference }: NodeComparison, urls: string[]): string {
  const agreed = `${urls.length} nodes agree at ${ticks} ticks${block === null ? "" : `, up to block ${block}`}`;
  if (difference === null) return `${agreed}.\n`;
  const nodes = difference.nodes.map(({ url, tick }) =>
    tick === null
      ? `  ${url}: no tick`
      : `  ${url}: ${tick.digest}, time ${tick.time}, line ${tick.line} of its log`,
  );
  const { line } = difference;
  const lines =
    line === null
      ? [
          "Their logs are the same up to there. So what one of the nodes derives or reports does not follow from its log.",
          "`tallystick derive --from URL --check` says which node it is.",
        ]
      : [
          `The first line that differs is line ${line.line}:`,
          ...line.texts.map(
            ([url, text]) => `  ${url}: ${text === null ? "no such line" : printable(text, 500)}`,
          ),
        ];
  return [
    `${agreed}. The tick of block ${difference.block} is the first that differs:`,
    ...nodes,
    ...lines,
    "",
  ].join("\n");
}
