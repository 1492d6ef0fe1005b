import { Address } from "../design/Address.tsx";
import { AsQuery } from "../design/AsQuery.tsx";
import { Tier } from "../design/Badges.tsx";
import { CopyButton } from "../design/CopyButton.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { formatNumber, formatRate, plainText } from "../design/format.ts";
import { Notice } from "../design/Notice.tsx";
import { Answered } from "../design/States.tsx";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { Later } from "../shell/Later.tsx";
import { useTitle } from "../shell/useTitle.ts";
import {
  CLUSTER,
  type Cluster,
  type ClusterAnswer,
  type ClusterMember,
  type ClusterSignal,
  type ClusterTransfer,
} from "./clusterQuery.ts";

const MEMBERS: Column<ClusterMember>[] = [
  { name: "Agent", cell: (it) => <Address address={it.address} />, value: (it) => it.address },
  { name: "Tier", cell: (it) => <Tier tier={it.trustTier} />, value: (it) => it.trustTier },
  {
    name: "Success",
    cell: (it) => formatRate(it.successRate),
    value: (it) => it.successRate,
    isNumber: true,
  },
  {
    name: "Hires",
    cell: (it) => formatNumber(it.last30dHireCountRaw),
    value: (it) => it.last30dHireCountRaw,
    isNumber: true,
  },
  {
    name: "Hires, weighted",
    cell: (it) => formatNumber(it.last30dHireCount),
    value: (it) => it.last30dHireCount,
    isNumber: true,
  },
];

const SIGNALS: { [signal: string]: string } = {
  funding_origin: "funded within a day",
  deploy_batch: "registered within 256 blocks",
};

const SIGNAL_COLUMNS: Column<ClusterSignal>[] = [
  {
    name: "Signal",
    cell: (it) => (
      <>
        {SIGNALS[it.signal] ?? plainText(it.signal, 60)}{" "}
        {it.dropped && <span class="badge">dropped: the funder is a hub</span>}
      </>
    ),
    value: (it) => it.signal,
  },
  { name: "By", cell: (it) => <Address address={it.funder} />, value: (it) => it.funder },
  {
    name: "Agents",
    cell: (it) => formatNumber(it.memberCount),
    value: (it) => it.memberCount,
    isNumber: true,
  },
];

const TRANSFERS: Column<ClusterTransfer>[] = [
  { name: "From", cell: (it) => <Address address={it.from} />, value: (it) => it.from },
  { name: "To", cell: (it) => <Address address={it.to} />, value: (it) => it.to },
  {
    name: "Amount",
    cell: (it) => <Usdc amount={it.amountUsdc} />,
    value: (it) => (it.amountUsdc === null ? null : Number(it.amountUsdc)),
    isNumber: true,
  },
  {
    name: "As",
    cell: (it) => (it.reason === "PAID_FOR_HIRE" ? "payment of a hire" : "funding"),
    value: (it) => it.reason,
  },
  { name: "When", cell: (it) => <Time at={it.time} isDate />, value: (it) => it.time, isNumber: true },
];

/** The most wallets and transfers that are drawn. A node gives fewer. */
const MAX_DRAWN = 30_000;

const loadGraph = () => import("./GraphView.tsx").then((it) => it.GraphView);

/**
 * The page of a cluster. It shows why these agents seem to have one owner: the members, the signals, and the
 * transfers behind them.
 */
export function ClusterPage({ id }: { id: string }) {
  useTitle(`Cluster ${id.slice(0, 12)}…`);
  const question = { query: CLUSTER, variables: { id } };
  const asked = useAnswer<ClusterAnswer>(`cluster ${id}`, (signal) =>
    askGraphql<ClusterAnswer>(question, signal),
  );
  return (
    <>
      <Answered asked={asked} what="the cluster" heading="Cluster">
        {({ cluster }) =>
          cluster === null ? (
            <div class="stack">
              <h1>No such cluster</h1>
              <Notice kind="info" title={id}>
                No cluster of this id has formed on this node.
              </Notice>
            </div>
          ) : (
            <Known cluster={cluster} />
          )
        }
      </Answered>
      <AsQuery question={question} />
    </>
  );
}

/**
 * Makes one row for each signal of a funder. While a cluster grows, a signal can trip several times, and the node gives
 * each time as a signal of its own.
 */
function joinedSignals(signals: readonly ClusterSignal[]): ClusterSignal[] {
  const rows = new Map<string, { signal: ClusterSignal; members: Set<string> }>();
  for (const it of signals) {
    const key = `${it.signal} ${it.funder} ${it.dropped}`;
    const { signal, members } = rows.get(key) ?? { signal: it, members: new Set<string>() };
    for (const member of it.members) members.add(member);
    const memberCount = Math.max(members.size, it.memberCount, signal.memberCount);
    rows.set(key, { signal: { ...it, memberCount }, members });
  }
  return [...rows.values()].map(({ signal }) => signal);
}

function Known({ cluster }: { cluster: Cluster }) {
  const { size, kind, members, graph } = cluster;
  return (
    <>
      <div class="stack">
        <h1>{formatNumber(size)} agents that seem to have one owner</h1>
        <p class="sum">
          {kind === "FINGERPRINT"
            ? "Their listings are alike in what they offer, at which price, how fast and where."
            : "Money from the same wallet reached them."}{" "}
          Each hire among them counts 1/{size}. Work for others counts in full.
        </p>
        <p class="soft small">
          formed <Time at={cluster.formedTime} isDate /> as <code>{plainText(cluster.id, 60)}</code>{" "}
          <CopyButton text={cluster.id} what="the cluster's id" />
        </p>
      </div>
      {graph.edges.length > 0 && (
        <section class="card" aria-labelledby="graph">
          <div class="head">
            <h2 id="graph">How money reached them</h2>
            {!graph.isWhole && <span class="soft">a part of it</span>}
          </div>
          {graph.nodes.length + graph.edges.length <= MAX_DRAWN ? (
            <Later load={loadGraph} graph={graph} />
          ) : (
            <p class="soft">It is too large to be drawn. The table below has its transfers.</p>
          )}
        </section>
      )}
      <section class="card" aria-labelledby="members">
        <h2 id="members">Members, and what their hires count</h2>
        <DataTable
          caption="Members"
          columns={MEMBERS}
          rows={members.nodes}
          keyOf={(it) => it.address}
          total={size}
          empty="None."
        />
      </section>
      {graph.signals.length > 0 && (
        <section class="card" aria-labelledby="signals">
          <h2 id="signals">What put them together</h2>
          <DataTable
            caption="Signals"
            columns={SIGNAL_COLUMNS}
            rows={joinedSignals(graph.signals)}
            keyOf={(it) => it.id}
            empty="None."
          />
        </section>
      )}
      {graph.edges.length > 0 && (
        <section class="card" aria-labelledby="transfers">
          <div class="head">
            <h2 id="transfers">The transfers behind it</h2>
            {!graph.isWhole && <span class="soft">a part of them</span>}
          </div>
          <DataTable
            caption="Transfers"
            columns={TRANSFERS}
            rows={graph.edges}
            keyOf={(it) => `${it.block}-${it.log}`}
            empty="None."
          />
        </section>
      )}
    </>
  );
}
