import { readdirSync } from "node:fs";
import { expect } from "chai";
import { examples } from "../../../indexer/api/graphql/examples.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { type ApiStory, openApiStory } from "../support/apiStory.ts";

describe("the pages of a node", () => {
  let story: ApiStory;
  before(async () => {
    story = await openApiStory();
  });

  const get = async (path: string) => {
    const response = await story.app.request(path);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it("name all ways to query the node, and load nothing from other servers", async () => {
    const { status, headers, text } = await get("/docs/");
    expect(status).to.equal(200);
    for (const link of ["/graphql", "/openapi.json", "/v1/params", "/"])
      expect(text).to.contain(`href="${link}"`);
    for (const { title } of examples) expect(text).to.contain(title);
    expect(text).not.to.match(/(?:src|href)=["']?(?:https?:)?\/\//);
    expect(headers.get("content-security-policy"))
      .to.contain("default-src 'none'")
      .and.contain("connect-src 'self'");
  });

  it("link examples that open unchanged in GraphiQL", async () => {
    const { text } = await get("/docs/");
    const linked = [...text.matchAll(/href="\/graphql\?query=([^"]+)"/g)].map(([, query = ""]) =>
      decodeURIComponent(query),
    );
    expect(linked).to.deep.equal(examples.map(({ query }) => query));
  });

  it("link every document from the first page, and show each document as HTML with a heading", async () => {
    const { text: contents } = await get("/docs/");
    const names = readdirSync(`${repositoryRoot}/docs`, { recursive: true, encoding: "utf8" }).filter((it) =>
      it.endsWith(".md"),
    );
    expect(names).to.have.length.above(3);
    for (const name of names) {
      expect(contents).to.contain(`href="/docs/${name}"`);
      const { status, text, headers } = await get(`/docs/${name}`);
      expect(status, name).to.equal(200);
      expect(headers.get("content-type")).to.contain("text/html");
      expect(text).to.match(/<h1\b/);
    }
  });

  it("show no other file", async () => {
    for (const path of [
      "/docs/../package.json",
      "/docs/%2e%2e/package.json",
      "/docs/..%2fpackage.json",
      "/docs/none.md",
      "/docs/escrow",
    ]) {
      expect((await get(path)).status, path).to.equal(404);
    }
  });
});
