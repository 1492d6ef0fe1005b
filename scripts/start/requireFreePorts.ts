import { createServer } from "node:net";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";

/** An address at which a process will listen, and the setting that names it. */
export type ListenAddress = { field: string; host: string; port: number };

/**
 * Checks that nobody listens yet at the ports of our processes. Otherwise a stranger's answers there would be
 * taken for ours.
 *
 * @throws InvalidInputError naming every port that is taken
 */
export async function requireFreePorts(places: readonly ListenAddress[]): Promise<void> {
  const issues = (await Promise.all(places.map(takenBy))).flat();
  if (issues.length === 0) return;
  throw new InvalidInputError({
    issues,
    code: "port_taken",
    message: "Another process already listens at a port of this node:",
    hint: "If another node is running, stop it, or give this one other ports.",
  });
}

async function takenBy({ field, host, port }: ListenAddress): Promise<InputIssue[]> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
    return [];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = code === "EADDRINUSE" ? "is taken by another process" : `cannot be used: ${code}`;
    return [{ field, message: `${host}, port ${port}, ${message}` }];
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
