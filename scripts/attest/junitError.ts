import { TallystickError } from "tallystick-protocol/errors";

/** A report of tests that is not read. `field` is the file's name as it was given. */
export class JunitError extends TallystickError {
  constructor(file: string, message: string, hint?: string) {
    super({
      code: "junit_report",
      message: `${file}: ${message}`,
      field: file,
      hint: hint ?? "Give the XML file that the test runner wrote, whole and unchanged.",
    });
  }
}
