import { ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { logEvent } from "../eventLog.ts";
import { lower } from "./place.ts";
import { metadataOf, ofRegistry, textsOf } from "./registryValues.ts";

// If no registries are configured, they are not among Ponder's contracts.
if (config.registries !== null) indexIdentities();

function indexIdentities(): void {
  ponder.on("IdentityRegistry:Registered", async ({ event, context }) => {
    const { agentId, owner } = event.args;
    const [uri = ""] = textsOf(event, ["bytes"]);
    await logEvent(
      context.db,
      {
        ...ofRegistry(event),
        kind: "identity.registered",
        identity: String(agentId),
        owner: lower(owner),
        uri,
      },
      event.block,
    );
  });

  ponder.on("IdentityRegistry:URIUpdated", async ({ event, context }) => {
    const { agentId, updatedBy } = event.args;
    const [uri = ""] = textsOf(event, ["bytes"]);
    await logEvent(
      context.db,
      {
        ...ofRegistry(event),
        kind: "identity.uriUpdated",
        identity: String(agentId),
        by: lower(updatedBy),
        uri,
      },
      event.block,
    );
  });

  ponder.on("IdentityRegistry:MetadataSet", async ({ event, context }) => {
    const identity = String(event.args.agentId);
    await logEvent(
      context.db,
      { ...ofRegistry(event), kind: "identity.metadataSet", identity, ...metadataOf(event) },
      event.block,
    );
  });

  ponder.on("IdentityRegistry:Transfer", async ({ event, context }) => {
    const { tokenId, from, to } = event.args;
    await logEvent(
      context.db,
      {
        ...ofRegistry(event),
        kind: "identity.transferred",
        identity: String(tokenId),
        from: lower(from),
        to: lower(to),
      },
      event.block,
    );
  });

  ponder.on("IdentityRegistry:Upgraded", async ({ event, context }) => {
    const implementation = lower(event.args.implementation);
    await logEvent(
      context.db,
      { ...ofRegistry(event), kind: "registry.upgraded", implementation },
      event.block,
    );
  });
}
