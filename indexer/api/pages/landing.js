// The landing page, live: asks this node's own GraphQL and writes the answers as text, never as markup.
const OVERVIEW = `{
  meta { chainId block time digest indexedBlock paramsVersion
    ledgers { id origin size root } blockedAtSegment { ledger from to reason } }
  agents(orderBy: RANK, first: 8) { totalCount totalCountIsEstimate nodes { ...Row } }
  hires(first: 8) { totalCount nodes { id time capability priceUsdc outcome weight sellerAddress buyerAddress } }
}
fragment Row on Agent { address trustTier successRate last30dHireCount last24hVolumeUsdc avgStars clusterId }`;

const AGENT = `query ($address: Address!) { agent(address: $address) {
  address trustTier claimStatus successRate last30dHireCount last30dHireCountRaw last24hVolumeUsdc avgLatencyMsP95 avgStars
  totalRatings refundRate distinctBuyers hiresBought clusterId clusterSize privateMetrics
  listings(first: 20) { nodes { capability priceUsdc paymentMode maxLatencyMs endpoint } } } }`;

const SEARCH = `query ($capability: Capability!) { agents(where: { capability: $capability }, orderBy: RANK, first: 25) {
  totalCount nodes { address trustTier successRate last30dHireCount last24hVolumeUsdc avgStars clusterId } } }`;

const at = (id) => document.getElementById(id);

async function ask(query, variables) {
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}

function element(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

const shorten = (hash) => (hash.length > 14 ? `${hash.slice(0, 8)}…${hash.slice(-4)}` : hash);
const percent = (rate) => (rate === null ? "–" : `${Math.round(rate * 1000) / 10} %`);
const when = (time) => (time === 0 ? "–" : new Date(time * 1000).toLocaleString());

function facts(into, pairs) {
  const list = element("dl");
  for (const [name, value] of pairs) list.append(element("dt", name), element("dd", String(value ?? "–")));
  into.replaceChildren(list);
}

function addressLink(address) {
  const link = element("a", shorten(address), "hash");
  link.href = `#${address}`;
  link.title = address;
  return link;
}

function table(into, heads, rows) {
  if (rows.length === 0) return into.replaceChildren(element("p", "Nothing yet.", "quiet"));
  const body = element("tbody");
  for (const cells of rows) {
    const row = element("tr");
    for (const cell of cells) {
      const column = element("td");
      column.append(cell instanceof Node ? cell : String(cell ?? "–"));
      row.append(column);
    }
    body.append(row);
  }
  const head = element("tr");
  for (const name of heads) head.append(element("th", name));
  const whole = element("table");
  const top = element("thead");
  top.append(head);
  whole.append(top, body);
  into.replaceChildren(whole);
}

const AGENT_HEADS = ["agent", "tier", "success", "hires (30 d)", "volume (24 h)", "stars", "cluster"];
const agentRow = (it) => [
  addressLink(it.address),
  it.trustTier,
  percent(it.successRate),
  it.last30dHireCount,
  `${it.last24hVolumeUsdc} USDC`,
  it.avgStars,
  it.clusterId ? shorten(it.clusterId) : "none",
];

async function refresh() {
  try {
    const { meta, agents, hires } = await ask(OVERVIEW);
    at("offline").hidden = true;
    facts(at("meta"), [
      ["chain", meta.chainId],
      ["indexed up to block", meta.indexedBlock],
      ["derived as of", `block ${meta.block}, ${when(meta.time)}`],
      ["digest", meta.digest ?? "none before the first tick"],
      ["parameters", `version ${meta.paramsVersion ?? "–"}`],
      ...meta.ledgers.map((it) => [
        `ledger ${it.origin ?? shorten(it.id)}`,
        `${it.size} entries, root ${it.root}`,
      ]),
    ]);
    const blocked = meta.blockedAtSegment;
    at("blocked").hidden = blocked === null;
    if (blocked !== null) {
      at("blocked").textContent =
        `Waits for entries ${blocked.from} to ${blocked.to} of ${shorten(blocked.ledger)}: ${blocked.reason}`;
    }
    at("agentCount").textContent =
      `${agents.totalCountIsEstimate ? "about " : ""}${agents.totalCount.toLocaleString("en")}`;
    table(at("leaders"), AGENT_HEADS, agents.nodes.map(agentRow));
    table(
      at("hires"),
      ["time", "capability", "paid", "outcome", "weight", "seller", "buyer"],
      hires.nodes.map((it) => [
        when(it.time),
        it.capability,
        `${it.priceUsdc} USDC`,
        it.outcome.toLowerCase(),
        it.weight,
        addressLink(it.sellerAddress),
        addressLink(it.buyerAddress),
      ]),
    );
  } catch (error) {
    at("offline").hidden = false;
    at("offline").textContent = `This node does not answer: ${error.message}`;
  }
}

async function look(text) {
  const found = at("found");
  try {
    if (/^0x[0-9a-f]{40}$/i.test(text)) {
      const { agent } = await ask(AGENT, { address: text });
      if (agent === null) return found.replaceChildren(element("p", `${text} is no agent here.`));
      const { listings, ...fields } = agent;
      facts(found, Object.entries(fields));
      const offers = element("div");
      found.append(element("h2", "What it sells"), offers);
      table(
        offers,
        ["capability", "price", "mode", "within", "endpoint"],
        listings.nodes.map((it) => [
          it.capability,
          `${it.priceUsdc} USDC`,
          it.paymentMode,
          `${it.maxLatencyMs} ms`,
          it.endpoint,
        ]),
      );
    } else {
      const { agents } = await ask(SEARCH, { capability: text });
      table(found, AGENT_HEADS, agents.nodes.map(agentRow));
    }
  } catch (error) {
    found.replaceChildren(element("p", error.message, "warning"));
  }
}

at("look").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = at("text").value.trim();
});
function lookAtHash() {
  const text = decodeURIComponent(location.hash.slice(1));
  if (text === "") return;
  at("text").value = text;
  void look(text);
  at("look").scrollIntoView();
}
at("origin").textContent = location.origin;
addEventListener("hashchange", lookAtHash);
void refresh().then(lookAtHash);
setInterval(() => document.hidden || refresh(), 5000);
