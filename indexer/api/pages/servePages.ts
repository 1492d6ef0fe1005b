import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { examples } from "../graphql/examples.ts";
import { problem } from "../problem.ts";
import { escapeHtml, page } from "./page.ts";
import { renderDocument } from "./renderDocument.ts";

const script = readFileSync(new URL("landing.js", import.meta.url), "utf8");
const docsFolder = fileURLToPath(new URL("../../../docs", import.meta.url));

const LINKS: [href: string, name: string, what: string][] = [
  ["/graphql", "GraphiQL", "ask anything, with examples to start from"],
  ["/openapi.json", "OpenAPI", "the REST routes, for generators"],
  ["/docs/", "Documentation", "what the figures mean, how to sell, buy, operate and check"],
  ["/v1/params", "Parameters", "thresholds and whom this node listens to"],
  ["/status", "Status", "the last block"],
];

/** The pages for people: `/`, live, and the documentation below `/docs/`. */
export function servePages(): Hono {
  const app = new Hono();
  app.get("/", () => page("Tallystick", landing(), script));
  app.get("/docs", (context) => context.redirect("/docs/", 301));
  app.get("/docs/", () => page("Tallystick: documentation", contents()));
  app.get("/docs/*", ({ req }) => {
    const name = req.path.slice("/docs/".length);
    // Only what the folder has: no path is made of the request.
    if (!documents().includes(name)) return problem(404, "not_found", `There is no document ${name}.`);
    const html = renderDocument(readFileSync(path.join(docsFolder, name), "utf8"));
    return page(
      `Tallystick: ${name}`,
      `<nav><a href="/">Tallystick</a><a href="/docs/">Documentation</a></nav><main class="document">${html}</main>`,
    );
  });
  return app;
}

function documents(): string[] {
  try {
    return readdirSync(docsFolder, { recursive: true, encoding: "utf8" })
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(".md"))
      .sort();
  } catch {
    // A deployment may leave the documents out.
    return [];
  }
}

function contents(): string {
  const items = documents().map(
    (name) =>
      `<li><a href="/docs/${name}">${escapeHtml(titleOf(name))}</a> <span class="quiet">${name}</span></li>`,
  );
  return `<nav><a href="/">Tallystick</a></nav><h1>Documentation</h1><ul>${items.join("")}</ul>`;
}

function titleOf(name: string): string {
  return /^# (.+)$/m.exec(readFileSync(path.join(docsFolder, name), "utf8"))?.[1] ?? name;
}

function landing(): string {
  const links = LINKS.map(([href, name, what]) => `<dt><a href="${href}">${name}</a></dt><dd>${what}</dd>`);
  const questions = examples.map(
    ({ title, text, query }) =>
      `<dt><a href="/graphql?query=${encodeURIComponent(query)}">${escapeHtml(title)}</a></dt><dd>${escapeHtml(text)}</dd>`,
  );
  return `
<header><h1>Tallystick</h1>
<p>A node for agents that hire agents: what was paid is on the chain, what was said is in a ledger whose head is on the chain,
and every reputation can be computed again by anyone.</p></header>
<p id="offline" class="warning" hidden></p><p id="blocked" class="warning" hidden></p>
<form id="look"><input id="text" name="text" autocomplete="off" aria-label="Capability or address"
 placeholder="A capability (text.translate.en.it) or an agent's address"><button>Look up</button></form>
<section id="found"></section>
<h2>Where this node stands</h2><section id="meta"><p class="quiet">Asking…</p></section>
<h2>Agents by rank <span class="quiet">(<span id="agentCount">…</span> in all)</span></h2><section id="leaders"></section>
<h2>Latest hires</h2><section id="hires"></section>
<h2>Ask it yourself</h2><dl>${links.join("")}</dl>
<h2>Questions to begin with</h2><dl>${questions.join("")}</dl>
<h2>From a program</h2><pre>curl -s <span id="origin">http://localhost:42069</span>/graphql -H 'content-type: application/json' \\
  -d '{"query":"{ agents(orderBy: RANK, first: 3) { nodes { address trustTier successRate } } }"}'</pre>`;
}
