/**
 * The same settings, with the addresses of these fields in lower case. Explorers and wallets write addresses in mixed case
 * (EIP-55), and everything else here compares them in lower case.
 */
export function inLowerCase<Settings extends object>(
  settings: Settings,
  ...fields: (keyof Settings)[]
): Settings {
  const lower = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lower);
    return typeof value === "string" ? value.toLowerCase() : value;
  };
  const named = fields.filter((field) => settings[field] !== undefined);
  return { ...settings, ...Object.fromEntries(named.map((field) => [field, lower(settings[field])])) };
}
