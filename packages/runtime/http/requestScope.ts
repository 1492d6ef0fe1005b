import { AsyncLocalStorage } from "node:async_hooks";
import type { Duplex } from "node:stream";

/** Told of a fault that nothing else caught. */
export type OnFault = (error: unknown) => void;

const scope = new AsyncLocalStorage<Duplex>();

/** Runs something for the client of a connection. What it starts belongs to that client too. */
export function onBehalfOf<T>(socket: Duplex, run: () => T): T {
  return scope.run(socket, run);
}

/** Runs something that is this process's own affair, though a request asked for it: a fault in it ends the process. */
export function asOurOwn<T>(run: () => T): T {
  return scope.exit(run);
}

/**
 * The last resort: a fault that a request brought about, and that nothing caught, costs that connection and nobody else
 * anything. Any other fault goes to those who listened before, or ends the process as if nobody did.
 */
export function surviveRequests(onFault: OnFault, otherwise?: OnFault): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    const others = process.listeners(event as "exit") as ((...given: unknown[]) => void)[];
    for (const other of others) process.off(event, other);
    process.on(event, (...given: unknown[]) => {
      const [error] = given;
      const socket = scope.getStore();
      if (socket !== undefined) {
        socket.destroy();
        onFault(error);
      } else if (otherwise !== undefined) otherwise(error);
      else if (others.length > 0) for (const other of others) other(...given);
      else {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      }
    });
  }
}
