import { writeFile } from "node:fs/promises";
import path from "node:path";
import { examples } from "../indexer/api/graphql/examples.ts";
import { repositoryRoot } from "../scripts/repositoryRoot.ts";
import { documentOf } from "./graphqlDocs/documentOf.ts";
import { fillVariables } from "./graphqlDocs/fillVariables.ts";

/** `npm run generate:graphql-docs -- URL`: sends every example to a running demo node and writes docs/graphql.md. */
const url = process.argv[2] ?? "http://127.0.0.1:42069";
const answers = new Map<string, unknown>();
for (const example of examples) {
  const { title, query } = example;
  if (query.startsWith("subscription")) continue;
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables: fillVariables(example, answers) }),
  });
  const answer = (await response.json()) as { data?: unknown; errors?: unknown };
  if (answer.errors !== undefined) throw new Error(`${title}: ${JSON.stringify(answer.errors)}`);
  answers.set(title, answer.data);
}
await writeFile(path.join(repositoryRoot, "docs/graphql.md"), documentOf(answers));
console.log("wrote docs/graphql.md");
