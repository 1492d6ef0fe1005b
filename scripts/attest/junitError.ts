import { TallystickError } from "tallystick-protocol/errors";

/** An unreadable test report. `field` is the file's name as the caller gave it. */
export class JunitError extends TallystickError {
  constructor(file: string, message: string, hint?: string) {
    super({
      code: "junit_report",
      message: `${file}: ${message}`,
      field: file,
      hint: hint ?? "Give the complete, unchanged XML file of the test runner.",
    });
  }
}
