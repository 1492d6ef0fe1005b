import { parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";

/** An amount in a node's answer, like "0.50". It gives atomic units. */
export const usdcForm = priceUsdcSchema.transform((text) => parseUsdc(text));
