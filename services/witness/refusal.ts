import { TallystickError } from "tallystick-protocol/errors";

/** The reason why a witness does not cosign a checkpoint, with the HTTP status of C2SP tlog-witness. */
export class Refusal extends TallystickError {
  readonly status: 400 | 403 | 404 | 409 | 422;
  /** The size that was cosigned last. Only a 409 has it. */
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
