import manifest from "../../package.json" with { type: "json" };

/** The version that a node reports: the repository's version. */
export const NODE_VERSION = manifest.version;
