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
export function applyIdentityEvent(context: ApplyContext, event: IdentityEvent): void {
  switch (event.kind) {
    case "identity.registered":
      identityRegistered(context, event);
      break;
    case "identity.uriUpdated":
      identityUriUpdated(context, event);
      break;
    case "identity.metadataSet":
      identityMetadataSet(context, event);
      break;
    case "identity.transferred":
      identityTransferred(context, event);
      break;
    case "feedback.given":
      feedbackGiven(context, event);
      break;
    case "feedback.revoked":
      feedbackRevoked(context, event);
      break;
    case "feedback.responded":
      feedbackResponded(context, event);
      break;
    case "registry.upgraded":
      registryUpgraded(context, event);
      break;
  }
}
