import type { OpenConnections } from "./connections.ts";

/**
 * Connections of a platform that resolves names itself, such as a browser. The platform's own rules replace the
 * check of addresses. The server gets no cookies and no referrer.
 */
export const openConnections: OpenConnections = () => async (input, init) =>
  await globalThis.fetch(input, { ...init, credentials: "omit", referrerPolicy: "no-referrer" });
