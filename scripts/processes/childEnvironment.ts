/** What a program needs from the machine it runs on, whatever it does. */
const MACHINE =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|NODE_.*|NO_COLOR|SYSTEMROOT|COMSPEC|PATHEXT)$/i;

/**
 * The environment for a process we start: what belongs to the machine, and `settings`. Nothing else gets through, so a
 * RPC_URL or HUBS that the user's shell has for a real node cannot change what a demo or a test does.
 */
export function childEnvironment(
  settings: Record<string, string> = {},
  inherited: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && MACHINE.test(name)) env[name] = value;
  }
  return { ...env, ...settings };
}
