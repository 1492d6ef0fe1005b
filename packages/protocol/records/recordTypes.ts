/**
 * The data about a type of record that services use. The form and the rules of the type are in other files.
 */
type TypeOfRecord = {
  /** The route that settles records of this type, and what API descriptions call them. Default: `POST /v1/records`. */
  route?: { path: string; what: string };
  /**
   * The identity of a record. Two records of one ledger never have the same identity: the second one would repeat
   * or contradict the first. Default: its signer and its body.
   */
  once?: (record: { signer: unknown; body: { [key: string]: unknown } }) => string;
};

const vote = {
  once: ({ signer, body }) => `vote ${body.proposal} ${signer} ${body.task_id}`,
} satisfies TypeOfRecord;

/**
 * Every type of record that is settled. Error messages and other lists name the types in this order. A followed
 * ledger may carry all of them unless the parameters say otherwise. The form of each type is in a file of this
 * folder. Its rules are in settlement and in the derivation.
 */
export const recordTypes = {
  listing: { route: { path: "/v1/listings", what: "a listing" } },
  receipt: {
    route: { path: "/v1/receipts", what: "a receipt" },
    // A hire has only one receipt.
    once: ({ body }) => `receipt ${body.agent_id} ${body.hire_id}`,
  },
  rating: {
    route: { path: "/v1/rate", what: "a rating, its rating_token beside the body" },
    // SHP §9.1
    once: ({ body }) => `rating ${body.receipt} ${body.side}`,
  },
  claim: {},
  telemetry: {
    route: { path: "/telemetry", what: "a buyer's telemetry" },
    once: ({ body }) => `telemetry ${body.receipt}`,
  },
  stake: {
    route: { path: "/v1/stake", what: "a stake" },
    // swarm.at §11
    once: ({ body }) => `stake ${body.proposal} ${body.task_id}`,
  },
  // One vote of each signer, for or against.
  verify: { ...vote, route: { path: "/v1/verify", what: "a vote for a staked proposal" } },
  contest: { ...vote, route: { path: "/v1/contest", what: "a vote against a staked proposal" } },
  // It is settled at the route of the held proposal. The path has the proposal's id.
  review: { once: ({ body }) => `review ${body.proposal}` },
  params: { route: { path: "/v1/params", what: "the operator's parameters" } },
  pulse: {},
  auditor: {},
  // One verdict of an auditor for each assignment (SHP §8.3.1).
  audit_verdict: {
    once: ({ signer, body }) => `audit_verdict ${signer} ${body.hire} ${body.round} ${body.attempt}`,
  },
  audit_judge: { once: ({ signer, body }) => `audit_judge ${signer} ${body.hire} ${body.round}` },
  audit_actuation: { once: ({ signer, body }) => `audit_actuation ${signer} ${body.hire}` },
  audit_mode: {},
  audit_canary: {},
  audit_history: { once: ({ signer, body }) => `audit_history ${signer} ${body.hire}` },
  attestation: {},
  // What a prober saw in an hour. Hosts that do not fit into one record are in further parts.
  uptime: { once: ({ signer, body }) => `uptime ${signer} ${body.hour} ${body.part}` },
  endorsement: {},
  // What a prober found on a day in agents' own monitoring. Agents that do not fit into one record are in
  // further parts.
  monitoring: { once: ({ signer, body }) => `monitoring ${signer} ${body.day} ${body.part}` },
  sla: {},
  // Settlement does not know which agent a breach belongs to. So the identity has the signer: a stranger's dispute
  // must not block the agent's own dispute.
  sla_dispute: { once: ({ signer, body }) => `sla_dispute ${signer} ${body.breach}` },
  sla_ruling: {},
  sla_payment: { once: ({ signer, body }) => `sla_payment ${signer} ${body.tx_hash} ${body.log_index}` },
  // The results of agents' proposals in an hour. Agents that do not fit into one record are in further parts.
  outcomes: { once: ({ body }) => `outcomes ${body.hour} ${body.part}` },
} satisfies { [type: string]: TypeOfRecord };

export type RecordType = keyof typeof recordTypes;

/** The names of the types, as records write them. */
export const recordTypeNames = Object.keys(recordTypes) as RecordType[];

/** The routes that settle records of one type each. */
export const recordTypeRoutes: readonly { type: RecordType; path: string; what: string }[] =
  recordTypeNames.flatMap((type) => {
    const { route }: TypeOfRecord = recordTypes[type];
    return route === undefined ? [] : [{ type, ...route }];
  });

/** The data about the type with this name; undefined if there is none. */
export function recordTypeNamed(name: unknown): TypeOfRecord | undefined {
  const type = recordTypeNames.find((it) => it === name);
  return type === undefined ? undefined : recordTypes[type];
}
