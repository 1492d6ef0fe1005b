/**
 * Matches the specifier of an import statement, an export statement or a call of import(), in the compiler's
 * output.
 */
const SPECIFIER =
  /(^(?:\}|import|export)(?:[^"\n]* from)? ")([^"\s]+)(?=";?$)|(\bimport\(\s*")([^"\s]+)(?="\s*\))/gm;

/** Replaces every specifier in the imports of a text. */
export function mapSpecifiers(text: string, change: (specifier: string) => string): string {
  return text.replace(
    SPECIFIER,
    (_, statement?: string, stated?: string, call?: string, loaded?: string) =>
      `${statement ?? call}${change((stated ?? loaded) as string)}`,
  );
}

/** Splits a specifier: `@x402/core/server` is the entry point `./server` of the package `@x402/core`. */
export function splitSpecifier(specifier: string): { name: string; entry: string } {
  const parts = specifier.split("/");
  const length = specifier.startsWith("@") ? 2 : 1;
  const rest = parts.slice(length).join("/");
  return { name: parts.slice(0, length).join("/"), entry: rest === "" ? "." : `./${rest}` };
}
