import { TallystickError } from "tallystick-protocol/errors";

/** A checkpoint that a witness does not cosign, with the status that C2SP tlog-witness has for the reason. */
export class Refusal extends TallystickError {
  readonly status: 400 | 403 | 404 | 409 | 422;
  /** The size that was cosigned last, for a 409. */
  readonly size?: number;

  constructor(parameters: {
    status: Refusal["status"];
    code: string;
    message: string;
    hint: string;
    size?: number;
  }) {
    super(parameters);
    this.status = parameters.status;
    if (parameters.size !== undefined) this.size = parameters.size;
  }
}
