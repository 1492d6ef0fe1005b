import { createServer, type RequestListener } from "node:http";
import { TallystickError } from "tallystick-protocol/errors";
import type { ClientLimits } from "./limitClients.ts";
import { protectListener } from "./protectListener.ts";
import type { OnFault } from "./requestScope.ts";
import { serverUrl } from "./serverUrl.ts";

export type ListenParameters = {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Names of the two settings above, for the error. */
  settings: string;
  /** The clients' budgets. Leave them out if the server counts requests itself, or serves only its operator. */
  limits?: ClientLimits | undefined;
  /** Called with internal errors of requests, and with errors of the server after it listens. */
  onFault: OnFault;
};

export type Listening = {
  url: string;
  /**
   * Accepts no more connections, and ends when the last connection is closed.
   *
   * @param graceMs the time that unfinished requests still get, in milliseconds. By default they are cut off at once
   */
  close: (graceMs?: number) => Promise<void>;
};

/**
 * Listens with every protection of {@link protectListener}. Resolves when it listens.
 *
 * @throws TallystickError `cannot_listen`
 */
export async function listen(
  listener: RequestListener,
  { host, port, settings, limits, onFault }: ListenParameters,
): Promise<Listening> {
  const server = createServer(listener);
  protectListener(server, {
    trustedProxies: limits?.trustedProxies ?? 0,
    onFault,
    ...(limits && { limits }),
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: Error) =>
      reject(
        new TallystickError({
          code: "cannot_listen",
          message: `Nothing can listen at ${host}, port ${port}: ${cause.message}.`,
          hint: `Stop what listens there, or set ${settings}.`,
          cause,
        }),
      );
    server.once("error", refuse);
    server.listen(port, host, () => {
      // From here on, an error means that one connection could not be accepted. The other connections go on.
      server.on("error", onFault);
      server.off("error", refuse);
      resolve();
    });
  });
  const at = server.address() as { port: number };
  return {
    url: serverUrl(host, at.port),
    close: async (graceMs = 0) => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
