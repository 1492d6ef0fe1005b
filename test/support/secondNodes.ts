/**
 * Whether tests also start nodes that do again what another node of the same test did. A start takes ten seconds of processor time, so
 * `npm test` starts each kind of node where something is left to show. CONTRIBUTING.md names this variable.
 */
export const SECOND_NODES = process.env.SECOND_NODES === "1";
