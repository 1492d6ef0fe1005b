import { type Command, Option } from "commander";
import { SPAM_REASONS } from "tallystick-protocol/erc8004/responseFile";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { PostedOrNot } from "tallystick-sdk/erc8004/postFeedback";
import type { RegisteredOrNot } from "tallystick-sdk/erc8004/registerAgent";
import { wholeNumber } from "../cli/parseOption.ts";
import { readAddress } from "../cli/readAddress.ts";
import type { FeedbackOptions } from "../erc8004/feedback.ts";
import { plainJson } from "../erc8004/plainJson.ts";
import type { RegisterOptions } from "../erc8004/register.ts";
import { addRegistryOptions } from "../erc8004/registryOptions.ts";
import type { RespondOptions } from "../erc8004/respond.ts";
import { addQueryOptions, answer, type QueryOptions } from "../query/nodeQuery.ts";
import { registerVerifyFeedback } from "./verifyFeedback.ts";

/** `tallystick erc8004 …`: identities and feedback in ERC-8004's registries. */
export function registerErc8004(program: Command): void {
  const erc8004 = program
    .command("erc8004")
    .description(
      "Register an agent with ERC-8004, and post or answer feedback there.\n" +
        "TALLYSTICK_PRIVATE_KEY signs the transactions and pays their gas. Without --yes nothing is sent, and " +
        "the cost is shown.",
    );
  addPostOptions(
    erc8004
      .command("register")
      .description(
        "Register the key's agent, or renew its registration file. The file contains its live listings at the node.",
      )
      .requiredOption("--name <name>", "the agent's name for people")
      .requiredOption("--description <text>", "what it does")
      .option("--image <url>", "a picture of it")
      .option("--mcp <url>", "where its MCP server answers")
      .option("--a2a <url>", "where its A2A agent card is")
      .option("--web <url>", "its page")
      .option("--agent-id <id>", "the identity to renew, if the key has several", wholeNumber("--agent-id")),
  ).action(async (options: RegisterOptions) => {
    const { register } = await import("../erc8004/register.ts");
    await show(options, await register(options, process.env));
  });
  addPostOptions(
    erc8004
      .command("feedback")
      .description("Post the key's feedback for a hire that it paid and rated in the node's ledger.")
      .argument("<hire>", "the hire's id, or the hash of its receipt")
      .option(
        "--agent-id <id>",
        "the seller's number in the identity registry (default, for a hire's id: the number that the node knows)",
        wholeNumber("--agent-id"),
      )
      .option(
        "--allow-unanchored",
        "do not wait for the ledger's anchor. Until then nobody can check the feedback by the chain",
      ),
  ).action(async (hire: string, options: FeedbackOptions) => {
    const { feedback } = await import("../erc8004/feedback.ts");
    await show(options, await feedback(hire, options, process.env));
  });
  addPostOptions(
    erc8004
      .command("respond")
      .description(
        "Append the verdict of an audit to somebody's feedback, or a note that the feedback is spam. Anyone may do this.",
      )
      .requiredOption("--agent-id <id>", "the agent's number", wholeNumber("--agent-id"))
      .requiredOption("--client <address>", "who gave the feedback")
      .requiredOption("--index <n>", "which of this client's feedbacks, from 1", wholeNumber("--index"))
      .option("--verdict <hash>", "the entry of the verdict in the node's ledger")
      .addOption(new Option("--spam <reason>", "why it is spam").choices(SPAM_REASONS).conflicts("verdict"))
      .option("--detail <text>", "with --spam: the reason in words")
      .option(
        "--known-by <hash>",
        "an entry of the node's ledger that the key signed, so that the node keeps the file",
      ),
  ).action(async (options: Omit<RespondOptions, "feedbackClient"> & { client: string }) => {
    if (options.verdict === undefined && options.spam === undefined)
      throw new InvalidInputError({ issues: [{ field: "--verdict", message: "is required, or --spam" }] });
    const { respond } = await import("../erc8004/respond.ts");
    const feedbackClient = readAddress(options.client, "--client");
    await show(options, await respond({ ...options, feedbackClient }, process.env));
  });
  registerVerifyFeedback(erc8004);
}

function addPostOptions(command: Command): Command {
  return addRegistryOptions(
    addQueryOptions(command)
      .option("--yes", "send it; without this only the cost is shown")
      .option("--uri <uri>", "the file's address, if the node does not keep it")
      .option("--public-url <url>", "under which address others reach the node (default: --url)"),
    { chain: "default: TALLYSTICK_CHAIN_ID", rpc: "default: TALLYSTICK_RPC_URL" },
  );
}

async function show(options: QueryOptions, outcome: PostedOrNot | RegisteredOrNot): Promise<void> {
  const { postedText } = await import("../erc8004/postedText.ts");
  answer(options, plainJson(outcome), () => postedText(outcome));
}
