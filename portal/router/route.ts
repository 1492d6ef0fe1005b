/** A page of the portal. The address of each page never changes, so links stay valid. */
export type Route =
  | { page: "market"; search: URLSearchParams }
  | { page: "agent"; address: string }
  | { page: "hire"; id: string }
  | { page: "cluster"; id: string }
  | { page: "ledger"; id: string; search: URLSearchParams }
  | { page: "network" }
  | { page: "audits" }
  | { page: "verify"; agent: string | null }
  | { page: "escrow"; id: `0x${string}` }
  | { page: "newEscrow"; search: URLSearchParams }
  | { page: "missing"; hash: string };

/** The id of a hire: `<tx>-<log>` of its payment, or the id of its escrow with or without `-hire`. */
const HIRE_ID = /^0x[0-9a-f]{64}(?:-(?:\d{1,10}|hire))?$/;
const ESCROW_ID = /^0x[0-9a-f]{64}$/;
const CLUSTER_ID = /^clst_[0-9A-Z]{26}$/;
const LEDGER_ID = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/**
 * Reads the part of the page's address behind `#`. Anything unknown is the page `missing`, because a link may
 * come from a stranger.
 */
export function routeOf(hash: string): Route {
  const text = hash.replace(/^#\/?/, "");
  const at = text.indexOf("?");
  const path = at === -1 ? text : text.slice(0, at);
  const search = new URLSearchParams(at === -1 ? "" : text.slice(at + 1));
  const [page = "", id = "", ...rest] = path.replace(/\/$/, "").split("/");
  const missing: Route = { page: "missing", hash: text.slice(0, 200) };
  if (rest.length > 0) return missing;
  const lower = id.toLowerCase();
  if (page === "" && id === "") return { page: "market", search };
  if (page === "agent" && ADDRESS.test(lower)) return { page: "agent", address: lower };
  if (page === "hire" && HIRE_ID.test(lower)) return { page: "hire", id: lower };
  if (page === "cluster" && CLUSTER_ID.test(id)) return { page: "cluster", id };
  if (page === "ledger" && LEDGER_ID.test(lower)) return { page: "ledger", id: lower, search };
  if (page === "audits" && id === "") return { page: "audits" };
  if (page === "network" && id === "") return { page: "network" };
  if (page === "escrow" && (id === "" || id === "new")) return { page: "newEscrow", search };
  if (page === "escrow" && ESCROW_ID.test(lower)) return { page: "escrow", id: lower as `0x${string}` };
  if (page === "verify" && (id === "" || ADDRESS.test(lower)))
    return { page: "verify", agent: id === "" ? null : lower };
  return missing;
}

/** The address of a page, to put into a link. */
export const linkTo = {
  market: (search: { [name: string]: string } = {}): string => {
    const query = new URLSearchParams(search).toString();
    return query === "" ? "#/" : `#/?${query}`;
  },
  agent: (address: string): string => `#/agent/${address}`,
  hire: (id: string): string => `#/hire/${id}`,
  cluster: (id: string): string => `#/cluster/${id}`,
  ledger: (id: string, search: { [name: string]: string } = {}): string => {
    const query = new URLSearchParams(search).toString();
    return `#/ledger/${id}${query === "" ? "" : `?${query}`}`;
  },
  audits: (): string => "#/audits",
  network: (): string => "#/network",
  escrow: (id: string): string => `#/escrow/${id}`,
  newEscrow: (): string => "#/escrow/new",
  verify: (agent?: string): string => (agent === undefined ? "#/verify" : `#/verify/${agent}`),
};
