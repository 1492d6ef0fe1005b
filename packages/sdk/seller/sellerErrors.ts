import { TallystickError, type TallystickErrorParameters } from "tallystick-protocol/errors";

/** What a seller answers a request with when it does not do what was asked. `status` is the HTTP status. */
export class HireRefusedError extends TallystickError {
  readonly status: number;

  constructor(parameters: TallystickErrorParameters & { status: number }) {
    super(parameters);
    this.status = parameters.status;
  }
}

/** A payment that is not good; answered by 402 with what would be. `code` is x402's reason where it has one. */
export class PaymentInvalidError extends TallystickError {}
