import { AsyncLocalStorage } from "node:async_hooks";
import type { Duplex } from "node:stream";
import { withoutUrlSecrets } from "../withoutUrlSecrets.ts";

/** Receives an error that no other code caught. */
export type OnFault = (error: unknown) => void;

const scope = new AsyncLocalStorage<Duplex>();

/** Runs work for the client of a connection. Everything that the work starts belongs to the client too. */
export function onBehalfOf<T>(socket: Duplex, run: () => T): T {
  return scope.run(socket, run);
}

/** Runs work of the process itself, although a request started it. A fault in it ends the process. */
export function asOurOwn<T>(run: () => T): T {
  return scope.exit(run);
}

/**
 * Handles errors that no other code caught. If the error belongs to a request, only the connection of this
 * request ends. Any other error goes to the earlier listeners. Without a listener it ends the process as
 * usual.
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
        const text = String(error instanceof Error ? error.stack : error);
        process.stderr.write(`${withoutUrlSecrets(text)}\n`);
        process.exit(1);
      }
    });
  }
}
