/** Variables of the machine that every program needs. */
const MACHINE =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|NODE_.*|NO_COLOR|SYSTEMROOT|COMSPEC|PATHEXT)$/i;

/**
 * The environment for a process that we start: the variables of the machine, and `settings`. Nothing else is
 * passed on. So an RPC_URL or HUBS of the user's shell, meant for a real node, cannot change a demo or a
 * test.
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
