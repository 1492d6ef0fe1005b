/** The one function used of npm's fs-native-extensions, which brings no types. */
declare module "fs-native-extensions" {
  /**
   * Takes an exclusive advisory lock on an open file; false when another process holds it. The lock ends with
   * the process.
   */
  export function tryLock(fd: number): boolean;
}
