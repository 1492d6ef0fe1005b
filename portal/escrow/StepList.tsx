import { Hash } from "../design/Address.tsx";
import { plainText } from "../design/format.ts";
import { Time } from "../design/Time.tsx";
import type { NodeEscrow } from "./escrowQuery.ts";

/** The most steps that are shown. An escrow has three at most. */
const MAX_STEPS = 10;

const STEPS: { [kind: string]: string } = {
  DEPOSITED: "The buyer put the money in",
  DELIVERED: "The seller marked its delivery",
  RELEASED: "The buyer released it",
  REFUNDED: "It went back to the buyer",
  TIMED_OUT: "The deadline sent it back to the buyer",
};

/** Lists what happened to an escrow on the chain, according to the node. */
export function StepList({ told: { steps } }: { told: NodeEscrow }) {
  return (
    <ol class="feed">
      {steps.slice(0, MAX_STEPS).map(({ kind, time, tx }) => (
        <li key={tx + kind}>
          <span class="head">
            <strong>{STEPS[kind] ?? plainText(kind, 40)}</strong>
            <span class="soft">
              <Time at={time} isDate />
            </span>
          </span>
          <span class="soft small">
            <Hash hash={tx} what="the transaction" />
          </span>
        </li>
      ))}
    </ol>
  );
}
