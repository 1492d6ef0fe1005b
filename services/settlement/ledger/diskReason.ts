/** The reason of an error of the disk, for clients. The error itself ends with the path of the file, which is not for them. */
export function diskReason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return "path" in cause ? cause.message.replace(/, \w+ '.*$/s, "") : cause.message;
}
