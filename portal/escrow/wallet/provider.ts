/** A wallet's interface to a page (EIP-1193). Its answers may have any form, so every answer is checked. */
export type Provider = {
  request: (request: { method: string; params?: unknown }) => Promise<unknown>;
  on?: (event: string, listener: (...values: unknown[]) => void) => void;
  removeListener?: (event: string, listener: (...values: unknown[]) => void) => void;
};

/** Whether a value has the interface of a wallet. */
export function isProvider(value: unknown): value is Provider {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { request?: unknown }).request === "function"
  );
}
