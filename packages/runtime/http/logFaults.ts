import type { Log } from "../stderrLog.ts";
import type { OnFault } from "./requestScope.ts";

/** Writes the internal errors of requests to a log. */
export function logFaults(log: Log): OnFault {
  return (error) => log("A request caused an internal error.", { error });
}
