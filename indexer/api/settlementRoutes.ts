import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { recordTypeRoutes } from "tallystick-protocol/records/recordTypes";
import { json, problem } from "./rest/routes.ts";

/** A route of the settlement service that this server forwards. Settlement decides its rules and messages. */
export type SettlementRoute = {
  method: "get" | "post";
  /** The path in OpenAPI's form, with parameters in braces. */
  path: string;
  /** The forwarded path, if a parameter may have several parts. */
  pattern?: string;
  summary: string;
  /** The name in generated clients. Default: made of the method and the path. */
  operationId?: string;
  /** The parameters of the query, with their descriptions. */
  query?: { [name: string]: string };
  /** The parameters of the query that settlement requires. The other ones are optional. */
  required?: readonly string[];
  needsKey?: boolean;
  /** The type of the answer if it is not JSON. */
  mediaType?: string;
};

const record = (path: string, what: string): SettlementRoute => ({
  method: "post",
  path,
  summary: `Settle ${what}: {body, signature, signer?}`,
});
const entry = {
  index: "Position of the entry. Either index or hash is required",
  hash: "Hash of the entry, in place of index",
};
const positions = { from: "First position, from 0", to: "The position after the last one" };

/** The routes of the settlement service (swarm.at §6, SHP §5) that this server forwards. */
export const settlementRoutes: readonly SettlementRoute[] = [
  { method: "post", path: "/v1/settle", summary: "Settle a proposal", needsKey: true },
  { method: "post", path: "/v1/actions", summary: "Ask for permission for a risky action", needsKey: true },
  {
    method: "get",
    path: "/v1/context",
    summary: "What agents may know: the rules and the shared state under the requested keys",
    query: { keywords: "Keys, at most 64, with commas between" },
  },
  { method: "get", path: "/v1/rules", summary: "The institutional rules" },
  {
    method: "get",
    path: "/v1/status/{task_id}",
    summary: "The entries of a task",
    query: { limit: "The number of entries, at most 100", before: "Only entries before this position" },
  },
  ...recordTypeRoutes.map(({ path, what }) => record(path, what)),
  {
    method: "post",
    path: "/v1/records",
    summary: "Settle a record of a type without a route of its own: {type, body, signature, signer?}",
  },
  { method: "post", path: "/v1/claim", summary: "Get the text by which an X account claims an agent" },
  { method: "post", path: "/v1/claim/verify", summary: "Settle a claim that was posted" },
  { method: "get", path: "/v1/notices", summary: "Who sends notices of SLAs to buyers" },
  {
    method: "post",
    path: "/v1/notices",
    summary: "Subscribe an address to notices of SLAs, or end the subscription: {body, signature, signer?}",
  },
  {
    method: "post",
    path: "/v1/notices/list",
    summary: "The subscriptions to notices. Only the sender of notices may ask",
  },
  {
    method: "post",
    path: "/v1/erc8004/files",
    summary: "Store a file of ERC-8004: {body, signature, signer?, file}",
  },
  {
    method: "get",
    path: "/v1/erc8004/files/{name}",
    summary: "A file of ERC-8004 by its keccak-256: {hash}.json",
    operationId: "getErc8004File",
  },
  {
    method: "get",
    path: "/v1/erc8004/hire-proof",
    summary: "A receipt and its rating, proven under one checkpoint",
    query: { receipt: "Hash of the receipt's entry" },
    required: ["receipt"],
  },
  { method: "get", path: "/v1/reviews", summary: "Proposals that wait for a review", needsKey: true },
  { method: "get", path: "/v1/reviews/{id}", summary: "A held proposal, with its shadow", needsKey: true },
  record("/v1/reviews/{id}", "the operator's review of a held proposal"),
  { method: "get", path: "/v1/ledger/latest", summary: "Name, size, head and root of the ledger" },
  { method: "get", path: "/v1/ledger/verify", summary: "Read the whole ledger again" },
  {
    method: "get",
    path: "/v1/ledger/checkpoint",
    summary: "A signed checkpoint (C2SP)",
    query: {
      size: "The size of the checkpoint. Default: the newest",
      witnessed: "true: the newest checkpoint that the quorum of witnesses has cosigned",
    },
    mediaType: "text/plain",
  },
  {
    method: "get",
    path: "/v1/ledger/key",
    summary:
      "The key that verifies checkpoints. While a new key replaces the old one, both keys with their dates",
    mediaType: "text/plain",
  },
  {
    method: "get",
    path: "/v1/ledger/proof",
    summary: "An inclusion proof (RFC 9162)",
    query: { ...entry, size: "Size of the tree. Default: the size of the ledger" },
  },
  {
    method: "get",
    path: "/v1/ledger/consistency",
    summary: "A consistency proof (RFC 9162)",
    query: { from: "The smaller size. Default: 0", to: "The larger size. Default: the size of the ledger" },
  },
  {
    method: "get",
    path: "/v1/ledger/bundle",
    summary: "The .proof file of an entry",
    query: entry,
  },
  {
    method: "get",
    path: "/v1/ledger/tlog-proof",
    summary: "The proof of an entry in C2SP's form, with the cosignatures of witnesses (C2SP tlog-proof)",
    query: entry,
    mediaType: "text/plain",
  },
  {
    method: "get",
    path: "/tlog/checkpoint",
    summary: "The newest checkpoint (C2SP tlog-tiles)",
    mediaType: "text/plain",
  },
  {
    method: "get",
    path: "/tlog/tile/{level}/{index}",
    pattern: "/tlog/tile/*",
    summary: "A tile of hashes, or of entries (C2SP tlog-tiles)",
    mediaType: "application/octet-stream",
  },
];

/** The only ledger route that this node answers itself. */
const ENTRIES: SettlementRoute = {
  method: "get",
  path: "/v1/ledger/entries",
  summary:
    "Canonical lines of a followed ledger, up to its last anchor, at most 1,024 at once. The header x-ledger-size gives the number of all anchored entries",
  query: { ledger: "Id of a followed ledger. Default: the first followed ledger", ...positions },
  mediaType: "application/jsonl",
};

/** Describes these routes at `/openapi.json`. */
export function describeSettlement(app: OpenAPIHono): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "apiKey", { type: "http", scheme: "bearer" });
  for (const route of settlementRoutes)
    describe(app, route, {
      503: problem("Nothing can be written now, or no settlement is behind this node"),
    });
  describe(app, ENTRIES, {
    404: problem("This node does not follow that ledger"),
    503: problem("These entries are not kept here, or Postgres does not answer"),
  });
}

function describe(app: OpenAPIHono, route: SettlementRoute, more: Record<number, object>): void {
  const { method, path, summary, query, required = [], needsKey = false, mediaType, operationId } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const texts = (keys: string[], of: (key: string) => z.ZodType) =>
    z.object(Object.fromEntries(keys.map((key) => [key, of(key)])));
  const anything = z.looseObject({});
  app.openAPIRegistry.registerPath({
    method,
    path,
    tags: ["Settlement"],
    operationId: operationId ?? nameOf(method, path),
    summary,
    request: {
      ...(names.length > 0 && { params: texts(names, () => z.string()) }),
      ...(query && {
        query: texts(Object.keys(query), (key) =>
          (required.includes(key) ? z.string() : z.string().optional()).openapi({
            description: query[key] ?? "",
          }),
        ),
      }),
      ...(method === "post" && {
        body: { required: true, content: { "application/json": { schema: anything } } },
      }),
    },
    ...(needsKey && { security: [{ apiKey: [] }] }),
    responses: {
      200:
        mediaType === undefined
          ? json("The answer, see docs/settlement", anything)
          : { description: "The answer", content: { [mediaType]: { schema: z.string() } } },
      400: problem("A field is missing or wrong; `errors` names every one"),
      ...(needsKey && { 401: problem("An API key of this service is needed") }),
      ...more,
    },
  });
}

/** `GET /v1/ledger/proof` as `getLedgerProof`. */
function nameOf(method: string, path: string): string {
  const words = path.replace(/^\/v1/, "").split(/[^A-Za-z0-9]+/);
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
