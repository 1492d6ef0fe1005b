/** @param {string} line */
export const say = (line) => process.stderr.write(`tallystick: ${line}\n`);

/** An expected failure: printed as sentence and hint, without a stack. */
export class BootstrapError extends Error {
  /** @param {string} message @param {string} hint */
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}
