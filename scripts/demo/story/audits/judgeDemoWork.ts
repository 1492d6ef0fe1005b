import type { Judge } from "tallystick-sdk/auditor/judge";
import { SUMMARIZE } from "../openMarket.ts";
import { FACTS, TRANSLATION } from "./work.ts";

/**
 * How the story's auditors judge. They know the right answers: a summary must give its source's content, and a
 * translation must be the expected one. No check of the form can see this.
 */
export const judgeDemoWork: Judge = async ({ capability, result }) => {
  const isGood =
    capability === SUMMARIZE.capability
      ? FACTS.filter((fact) => fact.test(textOf(result, "summary"))).length >= 3
      : textOf(result, "text") === TRANSLATION;
  return isGood
    ? { verdict: "pass", reasons: [{ code: "meets_request", detail: "It says what was asked for." }] }
    : { verdict: "fail", reasons: [{ code: "fabricated", detail: "The source says nothing of the kind." }] };
};

function textOf(result: unknown, field: string): string {
  return String((result as { [field: string]: unknown } | null)?.[field]);
}
