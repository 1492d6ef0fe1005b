import { TallystickError, type TallystickErrorParameters } from "tallystick-protocol/errors";

/** A seller's refusal of a request. `status` is the HTTP status, `secondsToWait` becomes its `Retry-After`. */
export class HireRefusedError extends TallystickError {
  readonly status: number;
  readonly secondsToWait?: number;

  constructor(parameters: TallystickErrorParameters & { status: number; secondsToWait?: number }) {
    super(parameters);
    this.status = parameters.status;
    if (parameters.secondsToWait !== undefined) this.secondsToWait = parameters.secondsToWait;
  }
}

/** An invalid payment. The answer is 402 with the valid terms. `code` is x402's reason where it has one. */
export class PaymentInvalidError extends TallystickError {}
