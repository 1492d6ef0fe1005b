import { writeFileSync } from "node:fs";
import { schemaText } from "../indexer/api/graphql/schema.ts";
import { repositoryRoot } from "../scripts/repositoryRoot.ts";

/** The text of the GraphQL schema, for clients and reviewers. A test compares it with the code. */
export const SDL_FILE = `${repositoryRoot}/indexer/schema.graphql`;

if (import.meta.filename === process.argv[1]) {
  writeFileSync(SDL_FILE, schemaText());
  console.log("wrote indexer/schema.graphql");
}
