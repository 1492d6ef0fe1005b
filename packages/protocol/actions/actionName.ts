import { skeleton } from "./plainText.ts";

/** The rule for every action without its own rule. */
export const DEFAULT_ACTION = "*";

/**
 * The form of an action's name in which rules and actions are compared. Names that look the same have the same
 * form.
 */
export function actionName(name: string): string {
  if (name === DEFAULT_ACTION) return name;
  const plain = name.replace(/[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, "");
  return skeleton(plain)
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
}
