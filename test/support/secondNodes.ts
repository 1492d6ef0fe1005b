/**
 * Whether tests also start nodes that repeat the work of another node of the same test. The start of a node takes ten
 * seconds of processor time, so `npm test` starts only nodes that test something new. CONTRIBUTING.md explains the
 * variable.
 */
export const SECOND_NODES = process.env.SECOND_NODES === "1";
