import { plainText } from "../design/format.ts";
import { type Finding, isBroken } from "./check.ts";

/** Sums up a verification in a title and a sentence. */
export function verdictOf(finding: Finding): { kind: "good" | "bad" | "info"; title: string; text: string } {
  const { title, checks } = finding;
  if (isBroken(finding)) {
    const first = checks.find(({ state }) => state === "no");
    return { kind: "bad", title: "It does not hold", text: plainText(first?.text ?? "") };
  }
  if (finding.waitsFor !== undefined)
    return { kind: "info", title: "Not decided", text: "What decides it is not final yet." };
  if (checks.some(({ state }) => state === "yes"))
    return { kind: "good", title: "It holds", text: `${title}, verified in this browser.` };
  return { kind: "info", title: "Nothing was verified", text: "The data for it is missing." };
}
