// Ponder serves what this module exports. The API stands outside of what Ponder runs as handlers.
export { default } from "../../api/index.ts";
