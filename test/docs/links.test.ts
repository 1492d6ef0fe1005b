import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { renderDocument } from "../../indexer/api/pages/renderDocument.ts";
import { servePages } from "../../indexer/api/pages/servePages.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { documents, partsOf, textOf } from "./support/documents.ts";

const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
const isOutside = (href: string) => /^[a-z]+:/.test(href);

describe("the links of the documents", () => {
  for (const name of documents) {
    it(`of ${name} lead to existing files and headings`, () => {
      for (const href of partsOf(textOf(name)).links.filter((it) => !isOutside(it))) {
        const [file = "", heading] = href.split("#");
        const target = file === "" ? name : path.join(path.dirname(name), file);
        expect(existsSync(path.join(repositoryRoot, target)), `${name}: ${href}`).to.equal(true);
        // A node serves its documents, and no other file of the repository.
        if (name.startsWith("docs/"))
          expect(target, `${name}: ${href} leads out of docs/`).to.match(/^docs\/.*\.md$/);
        if (heading !== undefined) {
          const ids = idsOf(renderDocument(readFileSync(path.join(repositoryRoot, target), "utf8")));
          expect(ids, `${name}: ${href}`).to.include(heading);
        }
      }
    });
  }
});

describe("the links of the pages that a node serves", () => {
  /** Paths of other parts of the API (see test/indexer/api). */
  const elsewhere = ["/", "/graphql", "/openapi.json", "/v1/params", "/status"];

  it("lead to existing pages and headings of the node", async () => {
    const app = servePages();
    const pages = new Map<string, string>();
    const waiting: [from: string, href: string][] = [["", "/docs/"]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [from, href] = next;
      const { pathname, hash } = new URL(href, `http://node${from}`);
      if (elsewhere.includes(pathname)) continue;
      if (!pages.has(pathname)) {
        const response = await app.request(pathname);
        expect(response.status, `${from}: ${href}`).to.equal(200);
        const html = await response.text();
        pages.set(pathname, html);
        // Links in the page's script are ignored. They are text, or exist only in a browser.
        const markup = html.replaceAll(/<script[\s\S]*?<\/script>/g, "");
        for (const [, link = ""] of markup.matchAll(/<a href="([^"]+)"/g))
          if (!isOutside(link)) waiting.push([pathname, link.replaceAll("&amp;", "&")]);
      }
      if (hash !== "") expect(idsOf(pages.get(pathname) ?? ""), `${from}: ${href}`).to.include(hash.slice(1));
    }
    // Links lead from the first page to every document.
    const served = documents.filter((name) => name.startsWith("docs/")).map((name) => `/${name}`);
    expect([...pages.keys()]).to.include.members(served);
  });

  it("lead to pictures that the node serves", async () => {
    const app = servePages();
    const html = await (await app.request("/docs/portal.md")).text();
    const pictures = [...html.matchAll(/<img src="([^"]+)"/g)].map(([, src = ""]) => `/docs/${src}`);
    expect(pictures).to.have.length.above(2);
    for (const picture of pictures) {
      const response = await app.request(picture);
      expect(response.headers.get("content-type"), picture).to.equal("image/jpeg");
    }
    expect((await app.request("/docs/pictures/none.jpg")).status).to.equal(404);
  });

  it("do not lead to private routes", async () => {
    const html = await (await servePages().request("/docs/")).text();
    expect(html).to.not.contain("/metrics");
  });
});
