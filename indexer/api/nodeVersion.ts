import manifest from "../../package.json" with { type: "json" };

/** What a node calls itself: the repository's version. */
export const NODE_VERSION = manifest.version;
