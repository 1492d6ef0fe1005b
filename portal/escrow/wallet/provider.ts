/** A wallet as it shows itself to a page (EIP-1193). Nothing that it answers is trusted to have the right form. */
export type Provider = {
  request: (request: { method: string; params?: unknown }) => Promise<unknown>;
  on?: (event: string, listener: (...values: unknown[]) => void) => void;
  removeListener?: (event: string, listener: (...values: unknown[]) => void) => void;
};

/** Whether something can be asked as a wallet is. */
export function isProvider(value: unknown): value is Provider {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { request?: unknown }).request === "function"
  );
}
