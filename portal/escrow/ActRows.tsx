import type { Act } from "./acts.ts";

/** Lists all actions. Those that the reader can take are buttons, the others show the reason why not. */
export function ActRows({ acts, onChoose }: { acts: readonly Act[]; onChoose?: (act: Act) => void }) {
  return (
    <ul class="plain acts">
      {acts.map((act) => (
        <li key={act.name} class={act.isOpen ? "open" : "closed"}>
          <div>
            <strong>{act.title}</strong>
            <p class="soft small">{act.why}</p>
          </div>
          {act.isOpen && onChoose !== undefined && (
            <button type="button" class="button" onClick={() => onChoose(act)} aria-label={act.title}>
              {SHORT[act.name]}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

const SHORT: { [name in Act["name"]]: string } = {
  markDelivered: "Mark",
  release: "Release",
  split: "Split",
  refund: "Refund",
  timeoutRefund: "Refund",
  withdraw: "Withdraw",
};
