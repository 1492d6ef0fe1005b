import { TallystickError, type TallystickErrorParameters } from "tallystick-protocol/errors";

/** A seller's refusal of a request. `status` is the HTTP status. */
export class HireRefusedError extends TallystickError {
  readonly status: number;

  constructor(parameters: TallystickErrorParameters & { status: number }) {
    super(parameters);
    this.status = parameters.status;
  }
}

/** An invalid payment. The answer is 402 with the valid terms. `code` is x402's reason where it has one. */
export class PaymentInvalidError extends TallystickError {}
