/**
 * The header of a request that has a connection of its own. After the machine stood still for some seconds, a server closes its idle
 * connections, and a request that is sent on such a connection fails.
 */
export const OWN_CONNECTION = { connection: "close" };
