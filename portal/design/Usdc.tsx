import { formatAmount } from "./format.ts";

/** An amount of USDC, exact. */
export function Usdc({ amount }: { amount: string | null }) {
  if (amount === null) return <span>–</span>;
  return (
    <span class="usdc">
      {formatAmount(amount)} <small>USDC</small>
    </span>
  );
}
