/** The parts of this package that need Node. All other parts also run in browsers. */
export { fileStore } from "./store/fileStore.ts";
