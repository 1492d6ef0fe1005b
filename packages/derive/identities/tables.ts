import type { ColumnKind } from "../columnKind.ts";

/** The rows of ERC-8004: identities, who stood for them when, and what was said of them. No rule of reputation reads them. */
export const identityTables = {
  /** `identity` and `reputation`, of a log that names registries: how far each is read (see `source.ts`). */
  registry: {
    id: "text",
    address: "text",
    /** The implementations whose events are understood, separated by spaces. */
    listed: "text",
    implementation: "text?",
    /** `waiting` for a listed implementation, `read`, or `unread` from here on. */
    status: "text",
    block: "number?",
    time: "number?",
    log: "number?",
  },
  /** An identity by its `agentId`, decimal. */
  identity: {
    id: "text",
    owner: "text",
    /** Its agent wallet now, and how many it ever had. */
    wallet: "text?",
    links: "number",
    /** Where its registration file is: how it begins, of how many bytes, and their hash where more is cut off or not shown. */
    uri: "text",
    uriBytes: "number",
    uriHash: "text?",
    registeredBlock: "number",
    registeredTime: "number",
    registeredLog: "number",
    registeredTx: "text",
    /** Whether the transaction that registered it moved it too: what that sets as its wallet is none. */
    movedAtOnce: "boolean",
    transfers: "number",
  },
  /** One wallet of an identity, `<identity>/<n>`: from where to where, and what was said of the identity meanwhile. */
  identityLink: {
    id: "text",
    identity: "text",
    wallet: "text",
    fromBlock: "number",
    fromTime: "number",
    fromLog: "number",
    untilBlock: "number?",
    untilTime: "number?",
    untilLog: "number?",
    feedback: "number",
    backed: "number",
    self: "number",
    revoked: "number",
  },
  /** Who ever owned an identity or was its wallet, `<identity>/<address>`. */
  identityParty: { id: "text" },
  /** `<identity>/<client>/<index>`. */
  feedback: {
    id: "text",
    identity: "text",
    client: "text",
    /** The wallet of the identity where it was given, and its link; null where it had none. */
    agent: "text?",
    link: "text?",
    value: "bigint",
    valueDecimals: "number",
    /** Cut at 256 bytes. */
    tag1: "text",
    tag2: "text",
    endpoint: "text",
    uri: "text",
    uriBytes: "number",
    uriHash: "text?",
    fileHash: "text",
    block: "number",
    time: "number",
    log: "number",
    tx: "text",
    /** `backed`, `self` or `unproven`. */
    standing: "text",
    /** Of `self`: `agent`, `owner`, `former`, `cluster`, `buyers` or `family`. */
    selfReason: "text?",
    /** The hire that backs it. */
    hire: "text?",
    isRevoked: "boolean",
    responses: "number",
  },
  /** `<feedback>/<n>`. */
  feedbackResponse: {
    id: "text",
    feedback: "text",
    responder: "text",
    uri: "text",
    uriBytes: "number",
    uriHash: "text?",
    fileHash: "text",
    block: "number",
    time: "number",
    log: "number",
    tx: "text",
  },
  /**
   * `<agent>/<client>`: the feedback that waits for a hire, the oldest first, `<time> <feedback>`, a line each; and how many of the pair's
   * free hires were taken (see `backing.ts`).
   */
  feedbackPair: { id: "text", waiting: "text", taken: "number" },
  /** Which feedback a hire backs, by hire; null where it did and does no more. */
  backing: { id: "text", feedback: "text?" },
} as const satisfies Record<string, Record<string, ColumnKind>>;
