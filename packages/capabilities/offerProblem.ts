import { isCustomCapability } from "tallystick-protocol/capability";
import type { InputIssue } from "tallystick-protocol/errors";
import type { Listing } from "tallystick-protocol/records/listing";
import { capabilityProblem, findFamily } from "./taxonomy.ts";
import { currentVersion, DEPRECATION_WINDOW_SECONDS, versionStatus } from "./versions.ts";

/**
 * What is wrong with an offer, in the form that InvalidInputError takes. Without faults `issues` is empty.
 */
export type OfferProblem = { issues: InputIssue[]; code?: string; hint?: string };

/**
 * Checks the taxonomy's rules for new offers (SHP §5.1, §7.5, §8.2). The capability must be a standard one
 * that exists, or `custom.*`. Its verification version must still be allowed. Only custom work can be
 * clarified. The rules are for writers only: the derivation counts what is in a ledger by its own rules, and
 * does not know the taxonomy.
 *
 * Every offer can be taken down, even one that breaks these rules.
 *
 * @param now unix seconds
 * @param prefix put before every field, e.g. `body.`
 */
export function offerProblem(listing: Listing, now: number, prefix = ""): OfferProblem {
  if (listing.retired || isCustomCapability(listing.capability)) return { issues: [] };
  const issues: InputIssue[] = [];
  const unknown = capabilityProblem(listing.capability);
  if (unknown) issues.push({ field: `${prefix}capability`, message: unknown.message });
  const version = versionProblem(listing, now);
  if (version !== undefined) issues.push({ field: `${prefix}verification_version`, message: version });
  if (listing.clarification_supported) {
    const message = "must be false for a standard capability; only custom.* is clarified";
    issues.push({ field: `${prefix}clarification_supported`, message });
  }
  return unknown ? { issues, code: "unknown_capability", hint: unknown.hint } : { issues };
}

function versionProblem(
  { capability, verification_version: version }: Listing,
  now: number,
): string | undefined {
  const family = findFamily(capability)?.family;
  if (family === undefined || version === undefined) return undefined;
  // A version that starts in the future is accepted: this clock may be slow, and accepting it harms nobody.
  if (!family.versions.some((published) => published.version === version)) {
    return `must be one of ${family.versions.map((published) => published.version).join(", ")} for ${family.id}`;
  }
  if (versionStatus(family, version, now) !== "retired") return undefined;
  const days = DEPRECATION_WINDOW_SECONDS / 86_400;
  return `may no longer be ${version}, which was replaced more than ${days} days ago; it is ${currentVersion(family, now)} now`;
}
