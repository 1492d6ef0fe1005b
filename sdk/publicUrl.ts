import { TallystickError } from "../protocol/errors.ts";

/**
 * Refuses addresses that lead into one's own network: anything but https, literal addresses, and names that are local.
 * Names are not resolved; a firewall has the last word.
 *
 * @throws TallystickError `private_address`
 */
export function requirePublicUrl(text: string, field: string): void {
  const { protocol, hostname } = new URL(text);
  const host = hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
  const isLiteral = /^[\d.]+$/.test(host) || host.includes(":");
  const isLocal = !host.includes(".") || /\.(?:localhost|local|internal|intranet|lan|home\.arpa)$/.test(host);
  if (protocol === "https:" && !isLiteral && !isLocal) return;
  throw new TallystickError({
    code: "private_address",
    message: `${field}: must be https and a public name`,
    field,
    hint: "On a local network set devMode.",
  });
}
