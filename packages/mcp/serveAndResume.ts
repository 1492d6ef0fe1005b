import type { McpContext } from "./mcpContext.ts";

/**
 * Serves the tools, and meanwhile concludes the hires that an earlier process left. Clients do not wait for these hires: a
 * seller may be silent, and a client gives up a server that does not start.
 *
 * @param serve opens the server. It may resolve only when the server has ended
 * @param tell called with each hire that is still open, or with the error that ended the work
 * @returns `resumed` resolves when all these hires were looked at; it never rejects
 */
export async function serveAndResume(
  { spend }: Pick<McpContext, "spend">,
  serve: () => unknown,
  tell: (open: { hireId?: string; error: unknown }) => void,
): Promise<{ resumed: Promise<void> }> {
  const resume = async (): Promise<void> => {
    for (const one of (await spend?.buyer.resume()) ?? [])
      if ("error" in one && !one.isOver) tell({ hireId: one.hireId, error: one.error });
  };
  const resumed = resume().catch((error: unknown) => tell({ error }));
  await serve();
  return { resumed };
}
