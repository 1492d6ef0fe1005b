import { totalmem } from "node:os";

/** A machine with less memory has no room for the compiler's garbage beside the other steps of a test run. */
const LEAST_BYTES = 8 * 2 ** 30;

/**
 * Environment variables for TypeScript's compiler. Without them its garbage collector takes a fifth of its time and frees
 * little, because a compiler ends after one program. With them it collects only when its memory reaches the limit.
 *
 * @param bytes the memory that the machine has
 */
export function compilerEnvironmentFor(bytes: number): Record<string, string> {
  return bytes < LEAST_BYTES ? {} : { GOGC: "off", GOMEMLIMIT: "3GiB" };
}

/** The compiler's environment on this machine, or in this container. */
export const compilerEnvironment = compilerEnvironmentFor(
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
);
