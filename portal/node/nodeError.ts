/** Says why a node did not answer, and what the reader can do. */
export class NodeError extends Error {
  /** The node's own code, or `unreachable`, `bad_answer`. */
  readonly code: string;
  readonly hint: string;
  /** Seconds to wait before the next attempt, if the node said so. */
  readonly retryAfter: number | null;
  /** For GraphQL: the field that failed. */
  readonly path: readonly unknown[];

  constructor(parameters: {
    code: string;
    message: string;
    hint?: string;
    retryAfter?: number | null;
    path?: readonly unknown[];
  }) {
    super(parameters.message);
    this.code = parameters.code;
    this.hint = parameters.hint ?? "";
    this.retryAfter = parameters.retryAfter ?? null;
    this.path = parameters.path ?? [];
  }
}
