/** Whether a node refused a transaction because its account cannot pay for it. Each kind of node has its own words. */
export function isUnpaid(error: unknown): boolean {
  return /insufficient funds|enough funds/i.test(String(Object(error).details ?? error));
}
