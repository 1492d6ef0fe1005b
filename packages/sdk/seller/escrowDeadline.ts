import type { Job } from "./job.ts";

/** Until when the escrow of a job may hold its money, in milliseconds since 1970; 0 for a job without an escrow. */
export function escrowDeadline({ payment }: Pick<Job, "payment">): number {
  const { hire } = Object(payment?.payload.payload) as { hire?: { deadline?: unknown } };
  const deadline = Number(hire?.deadline ?? 0);
  return Number.isFinite(deadline) ? deadline * 1_000 : 0;
}
