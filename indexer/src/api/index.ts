// Ponder serves what this module exports. The API is outside of the files that Ponder runs as handlers.
export { default } from "../../api/index.ts";
