/** The form of x402's reasons, such as `insufficient_funds`. */
const REASON = /^[a-z][a-z0-9_]{0,79}$/;

/**
 * A facilitator's reason in a form that a stranger may see. If it does not have the form of x402's reasons, it may be any
 * text, such as an address with a key, and `otherwise` takes its place.
 */
export function shownReason(reason: string | undefined, otherwise: string): string {
  return reason !== undefined && REASON.test(reason) ? reason : otherwise;
}
