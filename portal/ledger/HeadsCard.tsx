import { useState } from "preact/hooks";
import { ActionButton } from "../design/ActionButton.tsx";
import { Hash } from "../design/Address.tsx";
import { entriesOf } from "../design/countOf.ts";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { formatNumber, plainText } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { Time } from "../design/Time.tsx";
import { nodeUrl } from "../node/nodeUrl.ts";
import { askConsistency } from "../verify/askLedgers.ts";
import { type Finding, fails, holds, isOpen } from "../verify/check.ts";
import { Running } from "../verify/Running.tsx";
import { useVerification } from "../verify/useVerification.ts";
import { proves, type Tree } from "../verify/verifyHead.ts";
import { verifyInWorker } from "../verify/verifyInWorker.ts";
import type { LedgerHead } from "./ledgerQuery.ts";

const COLUMNS: Column<LedgerHead>[] = [
  { name: "Anchor", cell: ({ seq }) => plainText(seq, 20), value: ({ seq }) => Number(seq), isNumber: true },
  {
    name: "Entries",
    cell: ({ size }) => formatNumber(Number(size)),
    value: ({ size }) => Number(size),
    isNumber: true,
  },
  {
    name: "New",
    cell: (it) => formatNumber(Number(it.size) - Number(it.oldSize)),
    value: (it) => Number(it.size) - Number(it.oldSize),
    isNumber: true,
  },
  { name: "Root", cell: ({ root }) => <Hash hash={root} what="the root" />, value: ({ root }) => root },
  { name: "When", cell: ({ time }) => <Time at={time} />, value: ({ time }) => time, isNumber: true },
  { name: "Block", cell: ({ block }) => formatNumber(block), value: ({ block }) => block, isNumber: true },
  { name: "Transaction", cell: ({ tx }) => <Hash hash={tx} what="the transaction" />, value: ({ tx }) => tx },
];

type Props = { ledger: string; heads: LedgerHead[]; total: number; isFollowed: boolean };

/** Lists the anchored heads. The reader can verify that any two of them belong to one history. */
export function HeadsCard({ ledger, heads, total, isFollowed }: Props) {
  return (
    <section class="card" aria-labelledby="heads">
      <div class="head">
        <h2 id="heads">Anchored heads</h2>
        <span class="soft">checkpoints that the contract took, the latest first</span>
      </div>
      <DataTable
        caption="Anchored heads"
        columns={COLUMNS}
        rows={heads}
        keyOf={(it) => it.id}
        total={total}
        empty="None."
      />
      {isFollowed && heads.length > 0 && <Consistency ledger={ledger} heads={heads} />}
    </section>
  );
}

function Consistency({ ledger, heads }: Pick<Props, "ledger" | "heads">) {
  const { verification, run, stop } = useVerification();
  const [[from, to], choose] = useState([heads.length - 1, 0]);
  const treeOf = (n: number): Tree => ({ size: sizeOf(heads[n]?.size), root: String(heads[n]?.root) });
  const isRunning = verification.state === "running";
  const prove = () =>
    run(async ({ signal, say }) => {
      say("Fetching the proof");
      return await consistencyOf(ledger, treeOf(from), treeOf(to), signal);
    });
  const readAll = () =>
    run(({ signal, say }) =>
      verifyInWorker(
        { kind: "ledger", url: nodeUrl, ledger, heads: heads.map((_, n) => treeOf(n)) },
        { signal, onProgress: (share) => say("Reading the entries", share) },
      ),
    );
  const field = (label: string, value: number, set: (n: number) => void) => (
    <label class="field">
      {label}
      <select value={value} onChange={({ currentTarget }) => set(Number(currentTarget.value))}>
        {heads.map(({ id, seq, size }, n) => (
          <option key={id} value={n}>
            {`anchor ${plainText(seq, 20)}: ${entriesOf(Number(size))}`}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div class="stack">
      <h3>Is the later head a continuation of the earlier one?</h3>
      <div class="filters">
        {field("Earlier", from, (n) => choose([n, to]))}
        {field("Later", to, (n) => choose([from, n]))}
      </div>
      <div class="row">
        <ActionButton kind="main" onPress={prove} isOff={isRunning}>
          <Icon name="shield" /> Check the proof here
        </ActionButton>
        <ActionButton onPress={readAll} isOff={isRunning}>
          Read every entry here
        </ActionButton>
      </div>
      <Running verification={verification} stop={stop} />
    </div>
  );
}

/** The number of entries of a head; NaN if the node names none. */
function sizeOf(text: unknown): number {
  return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

async function consistencyOf(ledger: string, a: Tree, b: Tree, signal: AbortSignal): Promise<Finding> {
  const [from, to] = a.size <= b.size ? [a, b] : [b, a];
  const title = "Two heads of one history";
  const isOn = await proves(from, to, (one, other) => askConsistency(ledger, one, other, signal));
  const numbers = `${formatNumber(from.size)} and ${entriesOf(to.size)}`;
  if (isOn === null)
    return {
      title,
      checks: [isOpen("The node gives no consistency proof", "Reading every entry shows the same.")],
    };
  return {
    title,
    checks: [
      isOn
        ? holds(
            `The later head is a continuation of the earlier one`,
            `${numbers}; the proof was checked here.`,
          )
        : fails(
            `The heads at ${numbers} are not of one history`,
            "The consistency proof does not lead from one to the other.",
          ),
      isOpen("Only the chain shows whether it has these heads"),
    ],
  };
}
