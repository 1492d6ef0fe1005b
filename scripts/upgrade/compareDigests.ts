import { TallystickError } from "tallystick-protocol/errors";
import type { Schemas } from "./catchUp.ts";
import { commonDigest } from "./indexerState.ts";
import { lookAgain } from "./lookAgain.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";

/** The digests of both indexers at the newest tick that they share; null when they share none. */
export type Digests = { block: number; old: string; new: string } | null;

/** How long two indexers may disagree because of a reorganisation of the chain. */
const REORG_MS = 15_000;

/**
 * Compares the digests of both indexers at their newest common tick. If the digests differ, the comparison is
 * repeated for a while, because one of the two may not know of a reorganisation yet.
 *
 * @throws TallystickError `digest_differs` or `no_common_tick`, unless the rules changed
 */
export async function compareDigests(
  { query }: UpgradeSession,
  { live, next }: Schemas,
  parameters: { rulesChanged: boolean; signal: AbortSignal; patienceMs?: number | undefined },
): Promise<Digests> {
  const { rulesChanged, signal, patienceMs = REORG_MS } = parameters;
  const began = performance.now();
  const found = await lookAgain(
    async () => {
      const common = await commonDigest(query, live, next);
      const isFinal = rulesChanged || common === undefined || common.old === common.new;
      return isFinal || performance.now() - began >= patienceMs ? { common } : undefined;
    },
    { what: "the digests of both", withinMs: patienceMs + 150_000, everyMs: 500, signal },
  );
  const { common } = found;
  if (common === undefined) {
    if (rulesChanged) return null;
    throw new TallystickError({
      code: "no_common_tick",
      message: `${live} and ${next} have no tick in common, so their digests cannot be compared.`,
      hint: "Nothing was switched. If TICK_BLOCKS or the tables changed, run it again with --rules-changed.",
    });
  }
  if (common.old !== common.new && !rulesChanged) {
    throw new TallystickError({
      code: "digest_differs",
      message: `At block ${common.block} ${live} has the digest ${common.old}, and ${next} has ${common.new}.`,
      hint: "Nothing was switched. If rules or parameters changed, the digests must differ: run it again with --rules-changed. Otherwise `tallystick rederive` shows which of the two is wrong.",
      details: common,
    });
  }
  return common;
}
