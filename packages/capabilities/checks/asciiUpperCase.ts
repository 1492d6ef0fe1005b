/**
 * A code in capital letters. Other letters stay as they are: `toUpperCase` makes a plain S of `ſ`, and I of `ı`, so a
 * text that is no code would be equal to one.
 */
export function asciiUpperCase(text: string): string {
  return text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}
