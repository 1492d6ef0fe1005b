// Ponder looks for its configuration in its root folder, which is this one.
export { default } from "../ponder.config.ts";
