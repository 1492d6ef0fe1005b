/**
 * Puts a prefix before every line of what programs that run side by side write, and keeps their lines whole.
 *
 * @returns `write` takes the output as it comes; `end` gives out a last line that has no line break
 */
export function prefixLines(prefix: string, out: (text: string) => void) {
  const decoder = new TextDecoder();
  let rest = "";
  return {
    write(chunk: Uint8Array): void {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (lines.length > 0) out(lines.map((line) => `${prefix}${line}\n`).join(""));
    },
    end(): void {
      if (rest !== "") out(`${prefix}${rest}\n`);
      rest = "";
    },
  };
}
