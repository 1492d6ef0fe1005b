import { TallystickError } from "../errors.ts";

/** The value has no JSON text in Python's form: a float that is not finite, or something that is no JSON value. */
export class JsonValueError extends TallystickError {
  constructor(message: string) {
    super({ code: "not_json", message });
  }
}

/**
 * A float as Python's `repr` prints it. It has the fewest digits that still give the same float, and `.0` when it is
 * whole. Below 1e-4 and from 1e16 on it has an exponent of at least two digits.
 *
 * @throws JsonValueError when it is not finite
 */
export function pythonFloat(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) {
    const text = String(value);
    return text.includes(".") ? text : `${text}.0`;
  }
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  if (!Number.isFinite(value)) throw new JsonValueError(`${value} has no JSON form`);
  const oneDigit = /[+-]\d$/;
  return value.toExponential().replace(oneDigit, (end) => `${end.charAt(0)}0${end.charAt(1)}`);
}
