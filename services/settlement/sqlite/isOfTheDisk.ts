/** SQLite's primary result codes for a disk that refuses: read-only, an input or output error, full, cannot be opened. */
const OF_THE_DISK: readonly number[] = [8, 10, 13, 14];

/** Whether SQLite threw an error because the disk refuses to read or write. */
export function isOfTheDisk(error: unknown): boolean {
  const { errcode } = Object(error) as { errcode?: number };
  return errcode !== undefined && OF_THE_DISK.includes(errcode & 0xff);
}
