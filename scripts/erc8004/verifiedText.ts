import type { VerifiedFeedback } from "tallystick-sdk/erc8004/verifyFeedback";
import { printable } from "tallystick-sdk/openLog/printable";

/**
 * The result of verifying a feedback file, as text for people. A stranger wrote the file, so all of its text
 * is escaped.
 */
export function verifiedText(
  file: string,
  { valid, hash, findings }: Pick<VerifiedFeedback, "valid" | "hash" | "findings">,
): string {
  const width = Math.max(...findings.map(({ field }) => field.length), 0);
  const lines = (wanted: boolean | null, mark: string) =>
    findings
      .filter(({ holds }) => holds === wanted)
      .map(
        ({ field, detail }) => `${mark} ${printable(field, 100).padEnd(width)}  ${printable(detail, 400)}`,
      );
  const unchecked = lines(null, "?");
  return [
    `${printable(file, 200)} ${valid ? "holds" : "does not hold"}.`,
    `  ${"hash".padEnd(width)}  ${hash}`,
    ...lines(false, "✗"),
    ...lines(true, "✓"),
    ...(unchecked.length > 0 ? ["Not checked:", ...unchecked] : []),
  ].join("\n");
}
