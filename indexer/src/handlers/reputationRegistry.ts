import { ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { logEvent } from "../eventLog.ts";
import { lower } from "./place.ts";
import { ofRegistry, textsOf } from "./registryValues.ts";

// Without configured registries Ponder does not know these contracts, and a handler would be an error.
if (config.registries !== null) indexFeedback();

/**
 * The values of NewFeedback that are not indexed: index, value, decimals, four texts, and the hash of the
 * feedback file.
 */
const GIVEN = ["uint256", "uint256", "uint256", "bytes", "bytes", "bytes", "bytes", "bytes32"] as const;
/**
 * The values of ResponseAppended that are not indexed: index, the address of the response file and its hash.
 */
const RESPONDED = ["uint256", "bytes", "bytes32"] as const;

function indexFeedback(): void {
  ponder.on("ReputationRegistry:NewFeedback", async ({ event, context }) => {
    const { agentId, clientAddress, feedbackIndex, value, valueDecimals, feedbackHash } = event.args;
    const [tag1 = "", tag2 = "", endpoint = "", uri = ""] = textsOf(event, GIVEN);
    await logEvent(
      context.db,
      {
        ...ofRegistry(event),
        kind: "feedback.given",
        identity: String(agentId),
        client: lower(clientAddress),
        index: String(feedbackIndex),
        value: String(value),
        decimals: valueDecimals,
        tag1,
        tag2,
        endpoint,
        uri,
        hash: feedbackHash,
      },
      event.block,
    );
  });

  ponder.on("ReputationRegistry:FeedbackRevoked", async ({ event, context }) => {
    const { agentId, clientAddress, feedbackIndex } = event.args;
    await logEvent(
      context.db,
      {
        ...ofRegistry(event),
        kind: "feedback.revoked",
        identity: String(agentId),
        client: lower(clientAddress),
        index: String(feedbackIndex),
      },
      event.block,
    );
  });

  ponder.on("ReputationRegistry:ResponseAppended", async ({ event, context }) => {
    const { agentId, clientAddress, feedbackIndex, responder, responseHash } = event.args;
    const [uri = ""] = textsOf(event, RESPONDED);
    await logEvent(
      context.db,
      {
        ...ofRegistry(event),
        kind: "feedback.responded",
        identity: String(agentId),
        client: lower(clientAddress),
        index: String(feedbackIndex),
        responder: lower(responder),
        uri,
        hash: responseHash,
      },
      event.block,
    );
  });

  ponder.on("ReputationRegistry:Upgraded", async ({ event, context }) => {
    const implementation = lower(event.args.implementation);
    await logEvent(
      context.db,
      { ...ofRegistry(event), kind: "registry.upgraded", implementation },
      event.block,
    );
  });
}
