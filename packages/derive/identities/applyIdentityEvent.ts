import type { ApplyContext } from "../applyContext.ts";
import type { IdentityEvent } from "../events.ts";
import { feedbackGiven, feedbackResponded, feedbackRevoked } from "./feedback.ts";
import {
  identityMetadataSet,
  identityRegistered,
  identityTransferred,
  identityUriUpdated,
} from "./identities.ts";
import { registryUpgraded } from "./source.ts";

/** Applies an event of a registry of ERC-8004. */
export function applyIdentityEvent(context: ApplyContext, event: IdentityEvent): Promise<void> {
  switch (event.kind) {
    case "identity.registered":
      return identityRegistered(context, event);
    case "identity.uriUpdated":
      return identityUriUpdated(context, event);
    case "identity.metadataSet":
      return identityMetadataSet(context, event);
    case "identity.transferred":
      return identityTransferred(context, event);
    case "feedback.given":
      return feedbackGiven(context, event);
    case "feedback.revoked":
      return feedbackRevoked(context, event);
    case "feedback.responded":
      return feedbackResponded(context, event);
    case "registry.upgraded":
      return registryUpgraded(context, event);
  }
}
