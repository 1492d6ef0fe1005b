import { fileURLToPath } from "node:url";
import { type Context, Hono } from "hono";
import { type PortalFile, readPortal } from "./readPortal.ts";

const built = fileURLToPath(new URL("../../../portal/dist", import.meta.url));

/** Paths that people write and share. They lead to the portal's pages, whose addresses are behind `#`. */
const PAGES = ["agent", "audits", "cluster", "escrow", "hire", "ledger", "network", "verify"];

/**
 * Serves the portal at `/`. The portal shows people what can be hired, and the proofs for it. Its files come from
 * `portal/dist`, which `npm run build:portal` makes. Without them `/` leads to the documentation.
 */
export function servePortal(folder = built): Hono {
  const app = new Hono();
  const files = readPortal(folder);
  const index = files?.get("index.html");
  if (files === null || index === undefined) {
    app.get("/", (context) => context.redirect("/docs/", 302));
    return app;
  }
  app.get("/", (context) => send(context, index));
  for (const [name, file] of files) if (file !== index) app.get(`/${name}`, (context) => send(context, file));
  for (const page of PAGES) {
    app.get(`/${page}`, (context) => context.redirect(addressOf(page, context), 302));
    app.get(`/${page}/:id`, (context) =>
      context.redirect(addressOf(`${page}/${encodeURIComponent(context.req.param("id"))}`, context), 302),
    );
  }
  return app;
}

/**
 * The address of a page in the portal, with the query of the request: a link may fill in a form. The portal reads the
 * page and its query behind `#`, and the node to ask in front of it.
 */
function addressOf(page: string, { req }: Context): string {
  const query = new URL(req.url).searchParams;
  const node = query.get("node");
  query.delete("node");
  const front = node === null ? "" : `?${new URLSearchParams({ node })}`;
  return `/${front}#/${page}${query.size === 0 ? "" : `?${query}`}`;
}

function send(context: Context, file: PortalFile): Response {
  const { bytes, gzip, type, tag } = file;
  const isPage = type.startsWith("text/html");
  const headers: { [name: string]: string } = {
    "content-type": type,
    etag: tag,
    vary: "Accept-Encoding",
    // The name of every file except the page contains the hash of its content.
    "cache-control": isPage ? "public, max-age=0, must-revalidate" : "public, max-age=31536000, immutable",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    ...(isPage && {
      "content-security-policy": policyOf(bytes),
      // A page that opened this page cannot send this page to another address. This page may still open the windows
      // of wallets.
      "cross-origin-opener-policy": "same-origin-allow-popups",
    }),
  };
  if (context.req.header("if-none-match")?.includes(tag)) return new Response(null, { status: 304, headers });
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
    context.req.header("accept-encoding") ?? "",
  );
  if (gzip !== null && takesGzip)
    return new Response(new Uint8Array(gzip), { headers: { ...headers, "content-encoding": "gzip" } });
  return new Response(new Uint8Array(bytes), { headers });
}

/**
 * The page contains its own policy, for hosts that send no headers. As a header, the policy can also forbid
 * frames.
 */
function policyOf(page: Uint8Array): string {
  const text = new TextDecoder().decode(page);
  const own =
    /http-equiv="content-security-policy" content="([^"]+)"/.exec(text)?.[1] ?? "default-src 'none'";
  return `${own}; frame-ancestors 'none'`;
}
