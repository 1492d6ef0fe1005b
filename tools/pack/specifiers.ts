/** What an import or export statement, or a call of import(), names, in what the compiler writes. */
const SPECIFIER =
  /(^(?:\}|import|export)(?:[^"\n]* from)? ")([^"\s]+)(?=";?$)|(\bimport\(\s*")([^"\s]+)(?="\s*\))/gm;

/** A text with every specifier in its imports replaced. */
export function mapSpecifiers(text: string, change: (specifier: string) => string): string {
  return text.replace(
    SPECIFIER,
    (_, statement?: string, stated?: string, call?: string, loaded?: string) =>
      `${statement ?? call}${change((stated ?? loaded) as string)}`,
  );
}

/** `@x402/core/server` is the entry point `./server` of the package `@x402/core`. */
export function splitSpecifier(specifier: string): { name: string; entry: string } {
  const parts = specifier.split("/");
  const length = specifier.startsWith("@") ? 2 : 1;
  const rest = parts.slice(length).join("/");
  return { name: parts.slice(0, length).join("/"), entry: rest === "" ? "." : `./${rest}` };
}
