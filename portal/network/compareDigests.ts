import { countOf } from "../design/countOf.ts";
import { type Check, type Finding, fails, holds, isOpen } from "../verify/check.ts";

/** The digest of a node at a tick. */
export type Digest = { block: number; digest: string };

/** Compares the digests of two nodes at the same ticks. */
export function compareDigests(own: readonly Digest[], other: readonly Digest[], host: string): Finding {
  const title = "Two nodes";
  const byBlock = new Map(other.map(({ block, digest }) => [block, digest]));
  const common = own.filter(({ block }) => byBlock.has(block)).sort((a, b) => a.block - b.block);
  if (common.length === 0)
    return {
      title,
      checks: [isOpen("They have no tick in common", `${host} may follow another chain, or be far behind.`)],
    };
  const first = common.find(({ block, digest }) => byBlock.get(block) !== digest);
  const blocks = `blocks ${common[0]?.block} to ${common.at(-1)?.block}`;
  const check: Check =
    first === undefined
      ? holds(`The nodes agree at ${countOf(common.length, "tick")}`, `${host}, ${blocks}`)
      : fails(
          `The nodes differ from block ${first.block} on`,
          `This node says ${first.digest}, ${host} says ${byBlock.get(first.block)}. The command “tallystick compare” names the first line of their logs that differs.`,
        );
  return { title, checks: [check] };
}
