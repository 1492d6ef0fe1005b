/** The name of a program: what stands behind the last slash of its path. A program without a slash is a name already. */
export function programName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
