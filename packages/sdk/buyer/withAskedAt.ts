import { capabilityOf } from "tallystick-capabilities/capabilityOf";

/**
 * Adds the param `asked_at`, the time of the request, to the params of a hire. Does so only if the capability has
 * this param and the caller did not give it. Without this time the age of an answer cannot be checked. Params of a
 * quote stay unchanged, because the quote's signature covers them.
 *
 * @param now milliseconds since 1970
 */
export async function withAskedAt(
  capability: string,
  params: { [key: string]: unknown },
  now: number,
  quoteToken?: string,
): Promise<{ [key: string]: unknown }> {
  if (quoteToken !== undefined) return params;
  const properties = Object((await capabilityOf(capability))?.input.properties);
  if (!Object.hasOwn(properties, "asked_at")) return params;
  return { asked_at: Math.floor(now / 1000), ...params };
}
