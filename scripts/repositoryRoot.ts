import path from "node:path";

/** Absolute path of this checkout, without a slash at the end. */
export const repositoryRoot = path.resolve(import.meta.dirname, "..");
