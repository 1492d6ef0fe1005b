import type { ColumnKind } from "../columnKind.ts";

/**
 * The rows of ERC-8004: identities, their wallets over time, and the feedback on them. No rule of reputation
 * reads them.
 */
export const identityTables = {
  /**
   * One row for the registry `identity` and one for `reputation`, if the log names registries (see
   * `source.ts`).
   */
  registry: {
    id: "text",
    address: "text",
    /** The implementations whose events this code understands, separated by spaces. */
    listed: "text",
    implementation: "text?",
    /** `waiting` until a listed implementation comes, `read`, or `unread` after reading ended. */
    status: "text",
    block: "number?",
    time: "number?",
    log: "number?",
  },
  /** An identity by its `agentId`, decimal. */
  identity: {
    id: "text",
    owner: "text",
    /** Its wallet now, and the number of wallets that it ever had. */
    wallet: "text?",
    links: "number",
    /**
     * The URI of its registration file: its beginning, its length in bytes, and its hash if it was cut or
     * cannot be shown.
     */
    uri: "text",
    uriBytes: "number",
    uriHash: "text?",
    registeredBlock: "number",
    registeredTime: "number",
    registeredLog: "number",
    registeredTx: "text",
    /**
     * Whether the transaction that registered it also moved it. The wallet that this transaction sets does
     * not count.
     */
    movedAtOnce: "boolean",
    transfers: "number",
  },
  /**
   * One wallet of an identity, `<identity>/<n>`: from when to when, and the counts of feedback during this
   * time.
   */
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
  /** An address that ever owned an identity or was its wallet, `<identity>/<address>`. */
  identityParty: { id: "text" },
  /** A feedback: `<identity>/<client>/<index>`. */
  feedback: {
    id: "text",
    identity: "text",
    client: "text",
    /** The identity's wallet when the feedback was given, and its link; null if it had none. */
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
    /** Only for `self`: `agent`, `owner`, `former`, `cluster`, `buyers` or `family`. */
    selfReason: "text?",
    /** The hire that backs it. */
    hire: "text?",
    isRevoked: "boolean",
    responses: "number",
  },
  /** A response to a feedback: `<feedback>/<n>`. */
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
   * A pair `<agent>/<client>` (see `backing.ts`). `waiting`: the feedback that waits for a hire, each on a line
   * `<block> <log> <time> <feedback>`, the oldest first. `taken`: how many items of the pair's list of free hires were
   * used.
   */
  feedbackPair: { id: "text", waiting: "text", taken: "number" },
  /** The feedback that a hire backs, by hire; null if it no longer backs any. */
  backing: { id: "text", feedback: "text?" },
} as const satisfies Record<string, Record<string, ColumnKind>>;
