import { createServer } from "node:net";

/**
 * Ports from here on are below the range for outgoing connections, so the system does not take one between
 * choice and use.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/**
 * Returns a TCP port of 127.0.0.1 on which nobody listens now. It is random, so that two runs at the same time do not
 * get the same port.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST}`);
}

/** Whether a server could listen on this port of 127.0.0.1 now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    return await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen({ host: "127.0.0.1", port, exclusive: true }, () => resolve(true));
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
