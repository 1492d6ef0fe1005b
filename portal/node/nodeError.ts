import { plainText } from "../design/format.ts";

/** Says why a node did not answer, and what the reader can do. */
export class NodeError extends Error {
  /** The node's own code, or `unreachable`, `bad_answer`. */
  readonly code: string;
  readonly hint: string;
  /** Seconds to wait before the next attempt, if the node said so. */
  readonly retryAfter: number | null;

  constructor(parameters: {
    code: string;
    message: string;
    hint?: string;
    retryAfter?: number | null;
  }) {
    // A stranger may have written the words of a node.
    super(plainText(parameters.message, 500));
    this.code = plainText(parameters.code, 60);
    this.hint = plainText(parameters.hint ?? "", 500);
    this.retryAfter = parameters.retryAfter ?? null;
  }
}
