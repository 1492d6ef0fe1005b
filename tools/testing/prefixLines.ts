/**
 * Adds a prefix to every line of a program's output, and passes on whole lines only. So the lines of several
 * programs do not mix.
 *
 * @returns `write` takes pieces of output; `end` passes on a last line without a line break
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
