import { skeleton } from "./plainText.ts";

/** The rule for every action that has none of its own. */
export const DEFAULT_ACTION = "*";

/** The form in which rules and actions are compared. Two spellings that a reader takes for one name have one form. */
export function actionName(name: string): string {
  if (name === DEFAULT_ACTION) return name;
  const plain = name.replace(/[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, "");
  return skeleton(plain)
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
}
