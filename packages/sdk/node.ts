/** What needs Node: all else of this package also runs in browsers. */
export { fileStore } from "./store/fileStore.ts";
