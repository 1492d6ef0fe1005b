/**
 * Chains on which strangers draw on the same exchanges, bridges and faucets, and move the token millions of times a day: Base
 * and Base Sepolia.
 */
export const PUBLIC_CHAINS: readonly number[] = [8453, 84_532];
