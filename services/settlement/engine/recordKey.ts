/** What a key is made from: a record as it stands in a payload, or as it came. */
type KeyedRecord = { type: unknown; signer: unknown; body: { [key: string]: unknown } };

/**
 * What there is once in a ledger. A record whose key is taken is the same one again, or contradicts it.
 *
 * - a receipt: agent and hire_id (one hire, one receipt)
 * - a rating: receipt and side (SHP §9.1); a telemetry: its receipt
 * - a stake: task and proposal; a vote: those and who votes, for or against (swarm.at §11)
 * - a review: what it decides on
 * - everything else: type, signer and body
 *
 * @param digest gives the record's `recordDigest`, which is the task id of its entry
 */
export function recordKey({ type, signer, body }: KeyedRecord, digest: () => string): string {
  switch (type) {
    case "receipt":
      return `receipt ${body.agent_id} ${body.hire_id}`;
    case "rating":
      return `rating ${body.receipt} ${body.side}`;
    case "telemetry":
      return `telemetry ${body.receipt}`;
    case "stake":
      return `stake ${body.proposal} ${body.task_id}`;
    case "verify":
    case "contest":
      return `vote ${body.proposal} ${signer} ${body.task_id}`;
    case "review":
      return `review ${body.proposal}`;
    default:
      return `${type} ${signer} ${digest()}`;
  }
}
