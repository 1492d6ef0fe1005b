/** The only function that is used from npm's fs-native-extensions. The package has no types. */
declare module "fs-native-extensions" {
  /**
   * Takes an exclusive advisory lock on an open file; false when another process holds it. The lock ends with
   * the process.
   */
  export function tryLock(fd: number): boolean;
}
