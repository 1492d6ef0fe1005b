/** The exit code for a hire that is still running at its seller: "try again" of sysexits. */
export const RUNNING = 75;

/** The part of a resumed hire that decides the exit code. */
type Resumed = { status: string; verification?: { all_passed: boolean } };

/**
 * The exit code of `hire --resume`: 1 if a hire failed or was not verified, {@link RUNNING} if one still runs, else 0. The
 * next call does not show a hire that failed, so a failure comes first.
 */
export function exitOfResumed(hires: readonly Resumed[]): number {
  const isGood = ({ status, verification }: Resumed) =>
    status === "running" || verification?.all_passed === true;
  if (!hires.every(isGood)) return 1;
  return hires.some(({ status }) => status === "running") ? RUNNING : 0;
}
