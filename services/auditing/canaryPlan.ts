import { addressSchema } from "tallystick-protocol/address";
import { priceUsdcSchema } from "tallystick-protocol/amount";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { invalidInputFromZod } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { MAX_CANARIES } from "tallystick-protocol/records/auditCanary";
import { privateKeySetting } from "tallystick-runtime/configuration/settings";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";

const canarySchema = z.strictObject({
  /** The key of the buyer's wallet. If the wallet bought anything else in the window, the hire counts as no canary. */
  private_key: privateKeySetting,
  seller: addressSchema,
  capability: capabilitySchema,
  params: z.record(z.string(), z.unknown()),
  max_price_usdc: priceUsdcSchema,
  max_latency_ms: z.int().min(1).max(86_400_000).default(60_000),
  truth: z.enum(["good", "bad"]),
});

const planSchema = z.strictObject({
  /** Lower-case letters, digits and dashes. The same name always means the same plan. */
  name: z.string().regex(/^[a-z0-9-]{1,64}$/, "must be lower-case letters, digits and dashes"),
  /** When the hires begin, in unix seconds. They also wait until the commitment is anchored. */
  hire_after: z.int().min(0).default(0),
  /** When the commitment is revealed, in unix seconds: after their audits have ended. */
  reveal_after: z.int().min(0),
  hires: z
    .array(canarySchema)
    .min(1)
    .max(MAX_CANARIES)
    .refine(
      (hires) => new Set(hires.map(({ private_key: key }) => key.toLowerCase())).size === hires.length,
      "must give every hire a wallet of its own",
    ),
});

/** Hires that the operator arranges, and the known facts about their work. */
export type CanaryPlan = z.output<typeof planSchema>;

/**
 * Reads a plan of canaries.
 *
 * @throws InvalidInputError with the name of every invalid field, but never with a key
 */
export function readCanaryPlan(text: string): CanaryPlan {
  const read = planSchema.safeParse(tryForeignJson(text));
  if (!read.success) throw invalidInputFromZod(read.error, "canaries", "invalid_configuration");
  return read.data;
}

/** The wallet of a canary's buyer. */
export function buyerOf({ private_key: key }: CanaryPlan["hires"][number]) {
  return privateKeyToAccount(key);
}
