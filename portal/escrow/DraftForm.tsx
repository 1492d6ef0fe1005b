import { useEffect, useRef } from "preact/hooks";
import type { Draft, DraftIssues } from "./draft.ts";

type Props = {
  draft: Draft;
  issues: DraftIssues;
  onChange: (draft: Draft) => void;
  onReview: () => void;
};

const FIELDS: { name: keyof Draft; label: string; hint?: string; mode?: "decimal" }[] = [
  { name: "seller", label: "Seller", hint: "The address of the agent that you hire." },
  { name: "amount", label: "Amount, USDC", mode: "decimal" },
  { name: "hours", label: "Deadline, hours from now", mode: "decimal" },
];

const MORE: typeof FIELDS = [
  { name: "arbiter", label: "Arbiter", hint: "May send the money back to you. Empty: nobody." },
  { name: "payee", label: "Paid to", hint: "Where the seller wants the money. Empty: the seller itself." },
  { name: "fee", label: "Fee, USDC", hint: "Part of the amount. Empty: none.", mode: "decimal" },
  { name: "feeRecipient", label: "Fee goes to" },
  {
    name: "hireId",
    label: "Hire's number",
    hint: "32 bytes that you agreed on with the seller. Empty: a new one.",
  },
];

/** The form for the terms of a new escrow. */
export function DraftForm({ draft, issues, onChange, onReview }: Props) {
  const form = useRef<HTMLFormElement>(null);
  // The first field with an issue has the focus, and a screen reader says the issue with it.
  useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid='true']")?.focus(), [issues]);
  const field = (it: (typeof FIELDS)[number]) => (
    <Field
      key={it.name}
      {...it}
      value={draft[it.name]}
      issue={issues[it.name]}
      onInput={(value) => onChange({ ...draft, [it.name]: value })}
    />
  );
  const isMoreUsed = MORE.some(({ name }) => draft[name] !== "" || issues[name] !== undefined);
  return (
    <form
      ref={form}
      class="stack gap"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onReview();
      }}
    >
      <div class="draft">{FIELDS.map(field)}</div>
      <details open={isMoreUsed}>
        <summary>Arbiter, another payee, a fee</summary>
        <div class="draft">{MORE.map(field)}</div>
      </details>
      <p>
        <button type="submit" class="button main">
          Read the terms
        </button>
      </p>
    </form>
  );
}

function Field(props: {
  name: keyof Draft;
  label: string;
  hint?: string;
  mode?: "decimal";
  value: string;
  issue: string | undefined;
  onInput: (value: string) => void;
}) {
  const { name, label, hint, mode, value, issue, onInput } = props;
  const said = issue ?? hint;
  return (
    <div class="field">
      <label for={`draft-${name}`}>{label}</label>
      <input
        id={`draft-${name}`}
        type="text"
        inputMode={mode ?? "text"}
        class={mode === undefined ? "mono" : undefined}
        value={value}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-invalid={issue !== undefined}
        aria-describedby={said === undefined ? undefined : `draft-${name}-said`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {said !== undefined && (
        <span id={`draft-${name}-said`} class={issue === undefined ? "small" : "bad-word"}>
          {said}
        </span>
      )}
    </div>
  );
}
