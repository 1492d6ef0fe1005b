/** The reason why a wallet, or the chain behind it, did not do what it was asked. */
export type WalletCode =
  | "rejected"
  | "not_allowed"
  | "busy"
  | "no_answer"
  | "bad_answer"
  | "unknown_chain"
  | "unsupported"
  | "offline"
  | "wrong_chain"
  | "other_account"
  | "not_released"
  | "other_token"
  | "other_terms"
  | "refused"
  | "not_open"
  | "no_gas"
  | "no_money"
  | "barred"
  | "failed";

/** Says what happened in `message`, and in `hint` what the reader can do. Nothing was sent, unless the message says so. */
export class WalletError extends Error {
  readonly code: WalletCode;
  readonly hint: string;

  constructor(parameters: { code: WalletCode; message: string; hint?: string; cause?: unknown }) {
    super(parameters.message, parameters.cause === undefined ? undefined : { cause: parameters.cause });
    this.code = parameters.code;
    this.hint = parameters.hint ?? "";
  }
}

/** Converts any error to one that can be shown to the reader. */
export function asWalletError(cause: unknown): WalletError {
  if (cause instanceof WalletError) return cause;
  return new WalletError({
    code: "failed",
    message: cause instanceof Error ? cause.message.slice(0, 300) : String(cause).slice(0, 300),
    hint: "This page made a mistake. Reload it; if it stays, please report it.",
    cause,
  });
}
