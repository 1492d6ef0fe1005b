import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { examples } from "../graphql/examples.ts";
import { problem } from "../problem.ts";
import { escapeHtml, page } from "./page.ts";
import { renderDocument } from "./renderDocument.ts";

const docsFolder = fileURLToPath(new URL("../../../docs", import.meta.url));

const LINKS: [href: string, name: string, what: string][] = [
  ["/graphql", "GraphiQL", "ask anything, with examples to start from"],
  ["/openapi.json", "OpenAPI", "the REST routes, for generators"],
  ["/v1/params", "Parameters", "thresholds and whom this node listens to"],
  ["/status", "Status", "the last block"],
];

/**
 * Serves the documentation below `/docs/`, with every way to query this node. `../portal/` serves the portal
 * at `/`.
 */
export function servePages(): Hono {
  const app = new Hono();
  app.get("/docs", (context) => context.redirect("/docs/", 301));
  app.get("/docs/", () => page("Tallystick: documentation", contents()));
  app.get("/docs/*", ({ req }) => {
    const name = req.path.slice("/docs/".length);
    // Only files of the folder are served. A request's text is never used as a path on the disk.
    if (filesOf(".jpg").includes(name)) return picture(name);
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
  return filesOf(".md");
}

function picture(name: string): Response {
  return new Response(new Uint8Array(readFileSync(path.join(docsFolder, name))), {
    headers: {
      "content-type": "image/jpeg",
      "cache-control": "public, max-age=3600",
      "x-content-type-options": "nosniff",
    },
  });
}

/** The files of the folder and of all folders below it, in alphabetical order. */
function filesOf(ending: string): string[] {
  try {
    return readdirSync(docsFolder, { recursive: true, encoding: "utf8" })
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(ending))
      .sort();
  } catch {
    // A deployment may have no documents.
    return [];
  }
}

function contents(): string {
  const items = documents().map(
    (name) =>
      `<li><a href="/docs/${name}">${escapeHtml(titleOf(name))}</a> <span class="quiet">${name}</span></li>`,
  );
  return `<nav><a href="/">Tallystick</a></nav><h1>Documentation</h1><ul>${items.join("")}</ul>${ways()}`;
}

function titleOf(name: string): string {
  return /^# (.+)$/m.exec(readFileSync(path.join(docsFolder, name), "utf8"))?.[1] ?? name;
}

/** The addresses for programs, with example queries. */
function ways(): string {
  const links = LINKS.map(([href, name, what]) => `<dt><a href="${href}">${name}</a></dt><dd>${what}</dd>`);
  const questions = examples.map(
    ({ title, text, query }) =>
      `<dt><a href="/graphql?query=${encodeURIComponent(query)}">${escapeHtml(title)}</a></dt><dd>${escapeHtml(text)}</dd>`,
  );
  return `<h2>Ask this node</h2><dl>${links.join("")}</dl>
<h2>Questions to begin with</h2><dl>${questions.join("")}</dl>`;
}
