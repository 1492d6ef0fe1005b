import { addressSchema } from "tallystick-protocol/address";
import { feeScheduleSchema } from "tallystick-protocol/escrow/feeSchedule";
import { paymentModeSchema } from "tallystick-protocol/records/paymentMode";
import type { AllowedEscrow } from "tallystick-sdk/buyer/escrowPayment";
import { httpRelay } from "tallystick-sdk/escrow/httpRelay";
import type { Fetch } from "tallystick-sdk/requestService";
import { z } from "zod";

/** An escrow in `TALLYSTICK_ESCROWS`: as in createBuyer's `escrows`, but `relay` is the URL of the escrow's keeper. */
export type EscrowSetting = Omit<AllowedEscrow, "relay"> & { relay: string };

const CUSTOM = "custom_escrow:";

const address = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(addressSchema);

const escrowSchema = z.strictObject({
  escrow: address,
  relay: z.url({ protocol: /^https?$/, message: "must be the http or https URL of a keeper" }).optional(),
  feeRecipient: address.optional(),
  fees: feeScheduleSchema.optional(),
  arbiter: address.optional(),
  verificationWindowMs: z.int("must be whole milliseconds").positive("must be more than 0").optional(),
});

const modeSchema = paymentModeSchema.refine((mode) => mode !== "direct", "direct is no escrow");

/**
 * `TALLYSTICK_ESCROWS`: the escrows that may hold money. It is a JSON object, and its keys are payment modes. The
 * keeper of a `custom_escrow:URL` is at that URL, unless `relay` names another URL.
 */
export const escrowsSchema = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({
        code: "custom",
        message: 'must be JSON: {"platform_escrow:ID": {"escrow": "0x…", …}}',
      });
      return z.NEVER;
    }
  })
  .pipe(z.record(modeSchema, escrowSchema))
  .transform((escrows, context) => {
    const named: { [paymentMode: string]: EscrowSetting } = {};
    for (const [mode, { relay: given, ...escrow }] of Object.entries(escrows)) {
      const relay = given ?? (mode.startsWith(CUSTOM) ? mode.slice(CUSTOM.length) : undefined);
      if (relay !== undefined) named[mode] = { ...escrow, relay };
      else
        context.addIssue({
          code: "custom",
          path: [mode, "relay"],
          message: "is required: the http or https URL of a keeper",
        });
    }
    return named;
  });

/** Converts the escrows to the form that createBuyer takes. */
export function allowedEscrows(
  settings: { [paymentMode: string]: EscrowSetting },
  fetch: Fetch,
): { [paymentMode: string]: AllowedEscrow } {
  return Object.fromEntries(
    Object.entries(settings).map(([mode, { relay, ...escrow }]) => [
      mode,
      { ...escrow, relay: httpRelay({ url: relay, fetch }) },
    ]),
  );
}
