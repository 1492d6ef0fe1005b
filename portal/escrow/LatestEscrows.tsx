import { Address, Hash } from "../design/Address.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { linkTo } from "../router/route.ts";
import { EscrowBadge } from "./EscrowBadge.tsx";
import type { ListedEscrow } from "./escrowQuery.ts";
import { escrowStateOf } from "./escrowStateOf.ts";

const COLUMNS: Column<ListedEscrow>[] = [
  {
    name: "Escrow",
    cell: (it) => <Hash hash={it.id} what="the escrow's id" href={linkTo.escrow(it.id)} />,
    value: (it) => it.id,
  },
  {
    name: "State",
    cell: (it) => <EscrowBadge status={escrowStateOf(it).status} />,
    value: (it) => escrowStateOf(it).status,
  },
  {
    name: "Amount",
    cell: (it) => <Usdc amount={it.amountUsdc} />,
    value: (it) => Number(it.amountUsdc),
    isNumber: true,
  },
  { name: "Buyer", cell: (it) => <Address address={it.buyerAddress} />, value: (it) => it.buyerAddress },
  { name: "Seller", cell: (it) => <Address address={it.sellerAddress} />, value: (it) => it.sellerAddress },
  {
    name: "Deposited",
    cell: (it) => <Time at={it.depositedTime} />,
    value: (it) => it.depositedTime,
    isNumber: true,
  },
  {
    name: "Deadline",
    cell: (it) => <Time at={it.deadline} isDate />,
    value: (it) => it.deadline,
    isNumber: true,
  },
];

/** The latest escrows that the node knows, each with a link to its page. */
export function LatestEscrows({ escrows }: { escrows: { totalCount: number; nodes: ListedEscrow[] } }) {
  return (
    <section class="card" aria-labelledby="latest-escrows">
      <div class="head">
        <h2 id="latest-escrows">Escrows</h2>
        <span class="soft">the latest deposit first</span>
      </div>
      <DataTable
        caption="Escrows"
        columns={COLUMNS}
        rows={escrows.nodes}
        keyOf={(it) => it.id}
        total={escrows.totalCount}
        empty="Nobody has paid by escrow yet."
      />
    </section>
  );
}
