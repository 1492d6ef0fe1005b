import type { Question } from "../node/askGraphql.ts";
import { nodeUrl } from "../node/nodeUrl.ts";
import { CopyButton } from "./CopyButton.tsx";
import { visibleJson } from "./format.ts";
import { shellWord } from "./shellWord.ts";

/** Shows the page's own query, so that a program can ask the same: as GraphQL and as a curl command. */
export function AsQuery({ question }: { question: Question }) {
  const { query, variables } = question;
  const body = visibleJson({ query: query.replace(/\s+/g, " "), variables });
  const curl = `curl ${shellWord(`${nodeUrl}/graphql`)} -H 'content-type: application/json' -d ${shellWord(body)}`;
  const graphiql = `${nodeUrl}/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(JSON.stringify(variables))}`;
  return (
    <p class="as-query small soft">
      This whole page is one query. <a href={graphiql}>Open it in GraphiQL</a>, or copy it as a curl command:{" "}
      <CopyButton text={curl} what="as curl" />
    </p>
  );
}
