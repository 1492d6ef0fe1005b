import { useEffect, useRef } from "preact/hooks";
import { linkTo } from "../router/route.ts";
import { FILTERS } from "./searchQuery.ts";

const PAYMENT_MODES = [
  ["", "in any way"],
  ["direct", "directly"],
  ["platform_escrow:*", "by an escrow"],
] as const;

const TIERS = [
  ["", "any"],
  ["1", "claimed"],
  ["2", "verified"],
] as const;

const CHOICES: { [name: string]: readonly (readonly [value: string, text: string])[] } = {
  payment_mode: PAYMENT_MODES,
  min_trust_tier: TIERS,
};

/**
 * The filters of a search. Their values are part of the page's address, so the reader can share a search as a
 * link.
 */
export function OfferFilters({ search }: { search: URLSearchParams }) {
  const form = useRef<HTMLFormElement>(null);
  const text = search.toString();
  // When the page's address changes, the fields get the filters of the new address. The same fields remain, so the
  // focus stays where it is.
  useEffect(() => {
    const filters = new URLSearchParams(text);
    for (const field of form.current?.elements ?? []) {
      if (field instanceof HTMLInputElement && field.type === "checkbox")
        field.checked = filters.get(field.name) === field.value;
      else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement)
        field.value = filters.get(field.name) ?? "";
    }
  }, [text]);
  const apply = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const set: { [name: string]: string } = { capability: search.get("capability") ?? "" };
    for (const [name, value] of new FormData(form))
      if (typeof value === "string" && value.trim() !== "") set[name] = value.trim();
    location.hash = linkTo.market(set);
  };
  return (
    <form class="filters" ref={form} onSubmit={apply} aria-label="Filters">
      {FILTERS.map(({ name, label }) => {
        const choices = CHOICES[name];
        return (
          <div class="field" key={name}>
            <label for={`filter-${name}`}>{label}</label>
            {choices === undefined ? (
              <input type="text" inputMode="decimal" id={`filter-${name}`} name={name} autocomplete="off" />
            ) : (
              <select id={`filter-${name}`} name={name}>
                {choices.map(([it, text]) => (
                  <option key={it} value={it}>
                    {text}
                  </option>
                ))}
              </select>
            )}
          </div>
        );
      })}
      <label class="row check">
        <input type="checkbox" name="audited" value="1" />
        audited only
      </label>
      <button type="submit" class="button">
        Apply
      </button>
    </form>
  );
}
