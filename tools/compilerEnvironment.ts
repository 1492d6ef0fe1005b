/**
 * Environment variables for TypeScript's compiler. Without them its garbage collector takes a fifth of its time and frees
 * little, because a compiler ends after one program. Now it collects only when its memory reaches the limit.
 */
export const compilerEnvironment = { GOGC: "off", GOMEMLIMIT: "3GiB" };
