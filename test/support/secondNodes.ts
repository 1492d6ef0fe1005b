/**
 * Whether tests also start nodes that repeat what another node of the same test did. A start takes ten seconds of
 * processor time, so `npm test` starts a node only if it tests something new. CONTRIBUTING.md names this variable.
 */
export const SECOND_NODES = process.env.SECOND_NODES === "1";
