import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { TallystickError } from "tallystick-protocol/errors";
import { readDeployment } from "../deploy/deployment.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import { type NodeEnvironment, type NodePart, nodeEnvironment } from "./nodeEnvironment.ts";

/** The default file for a node's settings. */
export const ENV_FILE = path.join(repositoryRoot, ".env");

/**
 * Reads the settings of a node from a file. Variables of the shell have priority over the file, and `over`
 * has priority over both.
 *
 * @param envFile the file; without one `.env` in the checkout, if it is there
 * @throws TallystickError `no_such_file`; InvalidInputError naming everything that is missing or wrong
 */
export function readSettings(
  envFile: string | undefined,
  part: NodePart,
  over: { [name: string]: string | undefined } = {},
): Promise<NodeEnvironment> {
  const file = envFile ?? ENV_FILE;
  if (envFile !== undefined && !existsSync(file)) {
    throw new TallystickError({ code: "no_such_file", message: `There is no file ${file}.` });
  }
  const written = existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
  const asked = Object.entries(over).filter(([, value]) => value !== undefined);
  return nodeEnvironment(
    { ...written, ...process.env, ...Object.fromEntries(asked) },
    (chainId) => readDeployment(path.join(repositoryRoot, "contracts", "deployments", `${chainId}.json`)),
    part,
  );
}
