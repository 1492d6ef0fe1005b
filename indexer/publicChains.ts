/**
 * Public chains: Base and Base Sepolia. Strangers use the same exchanges, bridges and faucets there, and the
 * token has millions of transfers a day.
 */
export const PUBLIC_CHAINS: readonly number[] = [8453, 84_532];
