// Runs a local chain as a program, for the demo and the tests. It is the chain of `npx hardhat node`. It reads neither the
// build's configuration nor the compiler's output, which Hardhat needs only to name errors. So it starts in a third of the time.

import path from "node:path";
import { parseArgs } from "node:util";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { repositoryRoot } from "../repositoryRoot.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string" },
    "chain-id": { type: "string", default: "31337" },
    /** The URL of a chain at whose head this one begins. */
    fork: { type: "string" },
    /** When its clock starts, in ISO 8601; default now. */
    "starts-at": { type: "string" },
  },
});
const { port, "chain-id": chainId, fork, "starts-at": startsAt } = values;

const hre = await createHardhatRuntimeEnvironment(
  {
    paths: { artifacts: path.join(repositoryRoot, "cache", "no-artifacts") },
    networks: {
      node: {
        type: "edr-simulated",
        chainId: Number(chainId),
        ...(startsAt !== undefined && { initialDate: startsAt }),
        ...(fork !== undefined && { forking: { url: fork } }),
      },
    },
  },
  {},
  repositoryRoot,
);
const server = await hre.network.createServer("node", "127.0.0.1", Number(port));
await server.listen();
