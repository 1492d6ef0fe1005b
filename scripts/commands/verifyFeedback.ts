import type { Command } from "commander";
import { plainJson } from "../erc8004/plainJson.ts";
import { addRegistryOptions, type RegistryOptions } from "../erc8004/registryOptions.ts";
import { answer } from "../query/nodeQuery.ts";

type Options = RegistryOptions & {
  hash?: string;
  key?: string[];
  writer?: string;
  token?: string;
  escrow?: string;
  ipfsGateway?: string;
  response?: boolean;
  json?: boolean;
};

/** `tallystick verify-feedback`: checks a feedback file. `tallystick erc8004 verify-feedback` is the same command. */
export function registerVerifyFeedback(program: Command): void {
  addRegistryOptions(
    program
      .command("verify-feedback")
      .description(
        "Check that a feedback file of ERC-8004 is for a hire that was paid and rated, or with --response that a response file " +
          "proves a verdict on that hire. The check works offline. With --rpc-url it also asks the chain.",
      )
      .argument("<file>", "a path, an https:// address, or the feedback's ipfs:// with --ipfs-gateway")
      .option("--hash <hash>", "the hash that the registry has for it, to compare")
      .option("--key <vkey...>", "the ledger's verifier key, from a source other than the file")
      .option("--writer <address>", "who writes the ledger, from a source other than the file")
      .option("--token <address>", "the token that was paid with (default: USDC on Base and Base Sepolia)")
      .option("--escrow <address>", "the escrow that you trust, for a hire in escrow mode")
      .option("--ipfs-gateway <url>", "the gateway for ipfs:// addresses; without one they are not fetched")
      .option(
        "--response",
        "the file is a response to a feedback: a verdict, or a claim of spam, which proves nothing",
      )
      .option("--json", "print the result as JSON, for programs")
      .addHelpText(
        "after",
        "\nExits with 0 when nothing is wrong, with 1 when something does not hold. It" +
          "\nnames every field, and says what was not checked and why." +
          "\nWithout --rpc-url no chain is asked. Without --key, --writer and --rpc-url only" +
          "\nthe file itself is checked: a forger can make such a file with a ledger of its" +
          "\nown.",
      ),
    { chain: "default: the RPC's", rpc: "without it no chain is asked" },
  ).action(async (file: string, options: Options) => {
    const { verifyFeedbackFile } = await import("../erc8004/verifyFeedbackFile.ts");
    const { verifiedText } = await import("../erc8004/verifiedText.ts");
    const verified = await verifyFeedbackFile(file, options);
    answer(options, plainJson(verified), () => verifiedText(file, verified));
    if (!verified.valid) process.exitCode = 1;
  });
}
