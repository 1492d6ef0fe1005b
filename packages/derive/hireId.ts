/** The id of the hire that a transfer pays for directly: `<tx>-<log>`. */
export function directHireId(tx: string, log: number): string {
  return `${tx}-${log}`;
}
