import { verifyTrustReport } from "tallystick-protocol/trustReport/verifyTrustReport";
import { type Finding, fails, holds, isOpen } from "./check.ts";
import { type BelievedKeys, unreadable } from "./verifyKeys.ts";

const REASONS = {
  signed_by: "It names another key than the one it shows",
  other_key: "Another key than yours signed it",
  signature: "The key that it names did not sign it",
  too_old: "It is too old",
  not_dated: "It has no date",
} as const;

/**
 * Verifies the signature of a trust report (STEWARD). The key must be one of the report keys that the reader gave; without
 * them, the key that the report names.
 */
export function verifyReportFile(text: string, { reports }: BelievedKeys): Finding {
  const title = "A trust report";
  try {
    const value = parseJson(text);
    const { verification } = Object(Object(value).trust_report);
    const expected = reports.find((it) => it === Object(verification).public_key) ?? reports[0];
    const { isValid, reason, agent, publicKey, reportDate } = verifyTrustReport(value, {
      publicKey: expected,
    });
    const { trust_score, tier } = Object(Object(value).trust_report);
    const said = typeof trust_score === "number" ? `score ${trust_score}, tier ${String(tier)}` : "";
    return {
      title,
      checks: [
        isValid
          ? holds("It is as it was signed", `of agent ${agent} ${said}, of ${reportDate ?? "no date"}`)
          : fails(REASONS[reason ?? "signature"], `of agent ${agent}; key ${publicKey}`),
        expected === undefined
          ? isOpen(
              "Whose key signed it",
              `Key ${publicKey}. Compare it with the key in the agent card of the node that gave you the report, or give that key here.`,
            )
          : isValid
            ? holds("The key that you gave signed it", publicKey)
            : fails("It is not by the key that you gave", expected),
        isOpen(
          "Whether its figures are right",
          "The page of its agent derives figures again from the node's log.",
        ),
      ],
    };
  } catch (error) {
    return unreadable(title, "The report cannot be read", error);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
