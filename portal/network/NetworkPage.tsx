import { Address, Hash } from "../design/Address.tsx";
import { AsQuery } from "../design/AsQuery.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { formatAge, formatNumber, plainText, shortHash } from "../design/format.ts";
import { Answered } from "../design/States.tsx";
import { Time } from "../design/Time.tsx";
import { useAnswer } from "../node/useAnswer.ts";
import { linkTo } from "../router/route.ts";
import { useTitle } from "../shell/useTitle.ts";
import { CompareCard } from "./CompareCard.tsx";
import { askNetwork, NETWORK, type Network } from "./networkQuery.ts";
import { type ParamChange, type ParamRow, paramChanges, paramRows } from "./paramRows.ts";
import { RunCard } from "./RunCard.tsx";

/** Explanations of thresholds, by their path. Other thresholds have clear names. */
const MEANINGS: { [path: string]: string } = {
  windowSeconds: "Rates, counts and tiers cover this many seconds",
  volumeWindowSeconds: "Volume covers this many seconds",
  reconcileSeconds: "How long a receipt waits for its payment",
  minHireAtomic: "A hire below this price is free, and counts nowhere",
  clusterOthers: "This many other agents of one funder make a cluster",
  fundingSpanSeconds: "The agents of a cluster were funded within this many seconds",
  maxIntermediaries: "Money for an agent passes through at most this many wallets",
  minFundingAtomic: "A transfer below this amount funds nobody",
  fundingShare:
    "A transfer funds nobody if it is less than this share of all that its receiver ever received",
  hubTransfers: "A wallet with this many transfers is a hub: it funds nobody",
  deployBatchBlocks: "Agents that register within this many blocks are registered together",
  fingerprintSimilarity: "Listings are alike if they are at least this similar",
  maxListings: "The most listings that an agent may have",
  tier2MinSuccesses: "Tier 2 needs this many successes",
  tier2MinSuccessRate: "Tier 2 needs at least this success rate. An agent that falls below it loses the tier",
  tier2MinCapabilities: "Tier 2 needs this many capabilities",
  tier2MinBuyers: "Tier 2 needs this many buyers",
  tier2RequiresClaim: "Tier 2 needs a human's claim",
  starDecay: "A rating of yesterday counts this share of a rating of today",
  tickBlocks: "Blocks between two ticks",
};

/** Parameters that name the accounts that a node trusts. All other parameters are thresholds. */
const ROOTS =
  /^(operator|claimAttestors|auditArbiters|hubs|feeRecipients|escrows|ledgers|boundLedgers|audit\.operators|steward\.[a-zA-Z]*(?:attest|prob|rul|arbiter|endors)[a-zA-Z]*)(?:\.|$)/i;

const CHANGES: Column<ParamChange>[] = [
  {
    name: "Version",
    cell: (it) => <a href={linkTo.ledger(it.ledger, { entry: String(it.seq) })}>{it.version}</a>,
    value: (it) => it.version,
    isNumber: true,
  },
  { name: "Parameter", cell: (it) => <Path path={it.path} />, value: (it) => it.path },
  { name: "Before", cell: (it) => <Value text={changed(it.path, it.from)} />, value: (it) => it.from },
  { name: "After", cell: (it) => <Value text={changed(it.path, it.to)} />, value: (it) => it.to },
  {
    name: "From",
    cell: (it) => <Time at={it.time} isDate />,
    value: (it) => it.time,
    isNumber: true,
    isWords: true,
  },
];

const PARAMS: Column<ParamRow>[] = [
  { name: "Parameter", cell: (it) => <Path path={it.path} />, value: (it) => it.path },
  { name: "Value", cell: (it) => <Value text={readable(it)} />, value: (it) => it.value },
  {
    name: "Means",
    cell: (it) => <span class="soft wrap">{meaningOf(it)}</span>,
    value: meaningOf,
  },
];

/**
 * The page of the network: a node's parameters, the accounts that it trusts, all changes of them, and how to run a
 * node.
 */
export function NetworkPage() {
  useTitle("Network");
  const asked = useAnswer<Network>("network", askNetwork);
  return (
    <>
      <div class="lead">
        <h1>The rules of this node</h1>
        <p>
          Its operator chooses thresholds and whom to listen to, and signs them into the ledger. Everything
          else follows from the chain and the ledgers, on every node that takes the same parameters.
        </p>
      </div>
      <Answered asked={asked} what="the parameters">
        {(network) => <Known network={network} />}
      </Answered>
      <CompareCard />
      <RunCard />
      <AsQuery question={{ query: NETWORK, variables: {} }} />
    </>
  );
}

function Known({ network }: { network: Network }) {
  const { meta, params, version, history } = network;
  const rows = paramRows(params);
  const roots = rows.filter(({ path }) => ROOTS.test(path));
  const others = rows.filter(({ path }) => !ROOTS.test(path));
  const thresholds = others.filter(({ path }) => Object.hasOwn(MEANINGS, path));
  const rest = others.filter(({ path }) => !Object.hasOwn(MEANINGS, path));
  return (
    <>
      <dl class="tiles by-four">
        <div class="tile">
          <dt>chain</dt>
          <dd>{meta.chainId}</dd>
        </div>
        <div class="tile">
          <dt>block</dt>
          <dd>{formatNumber(meta.indexedBlock)}</dd>
        </div>
        <div class="tile">
          <dt>{meta.ledgers.length === 1 ? "ledger" : "ledgers"}</dt>
          <dd>{formatNumber(meta.ledgers.length)}</dd>
        </div>
        <div class="tile">
          <dt>parameters</dt>
          <dd>version {version}</dd>
        </div>
      </dl>
      <section class="card" aria-labelledby="ledgers">
        <h2 id="ledgers">Ledgers that it follows</h2>
        <DataTable
          caption="Ledgers"
          columns={LEDGERS}
          rows={meta.ledgers}
          keyOf={(it) => it.id}
          empty="It follows none."
        />
      </section>
      <section class="card" aria-labelledby="contracts">
        <h2 id="contracts">Contracts that it reads</h2>
        <dl class="facts">
          <dt>Ledgers are anchored in</dt>
          <dd>
            {meta.contracts.anchoredLedger === null ? (
              "–"
            ) : (
              <Hash hash={meta.contracts.anchoredLedger} what="the contract's address" />
            )}
          </dd>
          {meta.contracts.escrows.map(({ address, provider }) => (
            <Escrow key={address} address={address} provider={provider} />
          ))}
          <dt>Token</dt>
          <dd>
            <Hash hash={meta.token.address} what="the token's address" />{" "}
            <span class="soft">{plainText(meta.token.domainName ?? "", 40)}</span>
          </dd>
        </dl>
      </section>
      <section class="card" aria-labelledby="roots">
        <div class="head">
          <h2 id="roots">Whom it listens to</h2>
          <span class="soft">trust roots: nobody else's word is taken</span>
        </div>
        <DataTable
          caption="Trust roots"
          columns={PARAMS.slice(0, 2)}
          rows={roots}
          keyOf={(it) => it.path}
          empty="Nobody."
        />
      </section>
      <section class="card" aria-labelledby="thresholds">
        <h2 id="thresholds">Thresholds</h2>
        <DataTable
          caption="Thresholds"
          columns={PARAMS}
          rows={thresholds}
          keyOf={(it) => it.path}
          empty="None."
        />
        {rest.length > 0 && (
          <details>
            <summary>Terms of audits, of SLAs and of escrows' fees ({rest.length})</summary>
            <DataTable
              caption="Other terms"
              columns={PARAMS.slice(0, 2)}
              rows={rest}
              keyOf={(it) => it.path}
              empty="None."
            />
          </details>
        )}
      </section>
      <section class="card" aria-labelledby="changes">
        <div class="head">
          <h2 id="changes">How they changed</h2>
          <span class="soft">each by a record that the operator signed</span>
        </div>
        <DataTable
          caption="Changes of parameters"
          columns={CHANGES}
          rows={paramChanges(history)}
          keyOf={(it) => it.id}
          empty="No record has set the parameters yet. This node uses the parameters that it was started with."
        />
      </section>
    </>
  );
}

const LEDGERS: Column<Network["meta"]["ledgers"][number]>[] = [
  {
    name: "Ledger",
    cell: ({ id, origin }) => <a href={linkTo.ledger(id)}>{plainText(origin ?? id, 60)}</a>,
    value: ({ origin, id }) => origin ?? id,
  },
  { name: "Id", cell: ({ id }) => <Hash hash={id} what="the ledger's id" />, value: ({ id }) => id },
  { name: "Entries", cell: ({ size }) => formatNumber(size), value: ({ size }) => size, isNumber: true },
  { name: "Last anchor", cell: ({ time }) => <Time at={time} />, value: ({ time }) => time, isNumber: true },
];

function Escrow({ address, provider }: { address: string; provider: string }) {
  return (
    <>
      <dt>Escrow {plainText(provider, 40)}</dt>
      <dd>
        <Hash hash={address} what="the escrow's address" />
      </dd>
    </>
  );
}

/** Shows the path of a value, with short addresses. */
function Path({ path }: { path: string }) {
  const short = path.replace(/0x[0-9a-f]{40,64}/g, (it) => shortHash(it));
  return <code title={path}>{plainText(short, 120)}</code>;
}

function meaningOf({ path }: ParamRow): string {
  return Object.hasOwn(MEANINGS, path) ? (MEANINGS[path] ?? "") : "";
}

/**
 * Formats a number with grouped digits. Seconds are also shown as days, hours or minutes. Millionths of a USDC are
 * shown as USDC, and shares in millionths as percentages. A value that is not a number stays as it is.
 */
export function readable({ path, value }: ParamRow): string {
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(Number(value))) return value;
  const number = Number(value);
  const text = number.toLocaleString("en");
  if (/Seconds$/.test(path) && number >= 60) return `${text} (${formatAge(0, number).replace(" ago", "")})`;
  if (/Atomic$/.test(path)) return `${number / 1_000_000} USDC`;
  if (/Ppm$/.test(path) || path.startsWith("audit.rates.")) return `${number / 10_000}%`;
  return text;
}

function changed(path: string, value: string | null): string {
  return value === null ? "–" : readable({ path, value });
}

/** Shows a value, with its addresses in the form of the rest of the page. */
function Value({ text }: { text: string }) {
  const words = text.split(", ");
  if (words.length > 0 && words.every((it) => /^0x[0-9a-f]{40}$/.test(it)))
    return (
      <span class="row">
        {words.map((it) => (
          <Address key={it} address={it} isCopied />
        ))}
      </span>
    );
  if (words.every((it) => /^0x[0-9a-f]{64}$/.test(it)))
    return (
      <span class="row">
        {words.map((it) => (
          <Hash key={it} hash={it} what="the id" href={linkTo.ledger(it)} />
        ))}
      </span>
    );
  return <span class={words.length > 3 ? "wrap" : undefined}>{plainText(text, 400)}</span>;
}
