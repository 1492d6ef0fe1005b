import type { LoggedText } from "tallystick-protocol/erc8004/loggedText";
import type { ApplyContext } from "../applyContext.ts";
import type { FeedbackGiven, FeedbackResponded, FeedbackRevoked } from "../events.ts";
import type { Row } from "../tables.ts";
import { findBacking, leaveBacking } from "./backing.ts";
import { countInLink, uriColumns } from "./identities.ts";
import { selfReason } from "./self.ts";
import { isRead } from "./source.ts";

/**
 * Stores feedback that somebody gives on an identity. It is about the agent that is the identity's wallet at this
 * place, if there is one.
 */
export function feedbackGiven(context: ApplyContext, event: FeedbackGiven): void {
  if (!isRead(context, event.registry, "reputation")) return;
  const { block, time, log, tx, client, value, decimals, uri, hash } = event;
  const identity = context.store.get("identity", event.identity);
  const id = feedbackId(event);
  if (identity === null || context.store.get("feedback", id) !== null) return;
  const reason = selfReason(context, identity, client);
  const row: Row<"feedback"> = {
    id,
    identity: identity.id,
    client,
    agent: identity.wallet,
    link: identity.wallet === null ? null : `${identity.id}/${identity.links}`,
    value: BigInt(value),
    valueDecimals: decimals,
    tag1: beginning(event.tag1),
    tag2: beginning(event.tag2),
    endpoint: beginning(event.endpoint),
    ...uriColumns(uri),
    fileHash: hash,
    ...{ block, time, log, tx },
    standing: reason === null ? "unproven" : "self",
    selfReason: reason,
    hire: null,
    isRevoked: false,
    responses: 0,
  };
  context.store.insert("feedback", row);
  countInLink(context, row.link, { feedback: 1, self: reason === null ? 0 : 1 });
  if (reason === null) findBacking(context, row);
}

/** Called when the client that gave a feedback revokes it. */
export function feedbackRevoked(context: ApplyContext, event: FeedbackRevoked): void {
  if (!isRead(context, event.registry, "reputation")) return;
  const row = context.store.get("feedback", feedbackId(event));
  if (row === null || row.isRevoked) return;
  const isSelf = row.standing === "self";
  context.store.update("feedback", row.id, {
    isRevoked: true,
    ...(!isSelf && { standing: "unproven", hire: null }),
  });
  countInLink(context, row.link, {
    revoked: 1,
    self: isSelf ? -1 : 0,
    backed: row.standing === "backed" ? -1 : 0,
  });
  if (!isSelf) leaveBacking(context, row);
}

/** Stores somebody's answer to a feedback. Anybody may answer, any number of times. */
export function feedbackResponded(context: ApplyContext, event: FeedbackResponded): void {
  if (!isRead(context, event.registry, "reputation")) return;
  const row = context.store.get("feedback", feedbackId(event));
  if (row === null) return;
  const { block, time, log, tx, responder, uri, hash } = event;
  const responses = row.responses + 1;
  context.store.update("feedback", row.id, { responses });
  context.store.insert("feedbackResponse", {
    id: `${row.id}/${responses}`,
    feedback: row.id,
    responder,
    ...uriColumns(uri),
    fileHash: hash,
    ...{ block, time, log, tx },
  });
}

function feedbackId({
  identity,
  client,
  index,
}: Pick<FeedbackGiven, "identity" | "client" | "index">): string {
  return `${identity}/${client}/${index}`;
}

function beginning(text: LoggedText): string {
  return typeof text === "string" ? text : text.text;
}
