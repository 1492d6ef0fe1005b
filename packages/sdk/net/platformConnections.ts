import type { OpenConnections } from "./connections.ts";

/**
 * Connections of a platform that resolves names out of sight, such as a browser: its own rules stand in for the judgement
 * of addresses. The server learns nothing of the page: no cookies, no address.
 */
export const openConnections: OpenConnections = () => async (input, init) =>
  await globalThis.fetch(input, { ...init, credentials: "omit", referrerPolicy: "no-referrer" });
