import { formatAmount } from "./format.ts";

/** Shows an exact amount of USDC. */
export function Usdc({ amount }: { amount: string | null }) {
  if (amount === null) return <span>–</span>;
  return (
    <span class="usdc">
      {formatAmount(amount)} <small>USDC</small>
    </span>
  );
}
