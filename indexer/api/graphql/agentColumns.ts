import type { FieldNode, GraphQLResolveInfo, SelectionSetNode } from "graphql";
import { camelName, fieldNames, publishedFieldOf, publishedFields } from "tallystick-derive/publishedFields";
import type { Row } from "tallystick-derive/tables";

type Column = keyof Row<"agent">;

const cluster = publishedFields.cluster_id.columns;

/** The columns that each field of an agent needs. Other fields, such as lists, may need the whole row. */
const COLUMNS: { [field: string]: Column[] } = {
  __typename: [],
  id: [],
  address: [],
  privateMetrics: [],
  cluster,
  ...Object.fromEntries(fieldNames.map((name) => [camelName(name), publishedFieldOf(name).columns])),
};

/**
 * The columns that a list of agents must read for the requested fields; undefined: all. An agent has about
 * fifty columns, and reading them is most of the cost of a long page.
 */
export function agentColumns(info: GraphQLResolveInfo): Column[] | undefined {
  const wanted = new Set<Column>(["id", "privateListings"]);
  for (const field of nodeFields(info)) {
    const columns = Object.hasOwn(COLUMNS, field) ? COLUMNS[field] : undefined;
    if (columns === undefined) return undefined;
    for (const column of columns) wanted.add(column);
  }
  // Sorted, so that queries for the same fields use the same statement.
  return [...wanted].sort();
}

/** The names of all fields of a connection's nodes. They may be under `nodes` or under `edges`, and in fragments. */
function nodeFields(info: GraphQLResolveInfo): Set<string> {
  const of = (parents: FieldNode[], name?: string) => {
    const found: FieldNode[] = [];
    const seen = new Set<string>();
    const visit = ({ selections }: SelectionSetNode) => {
      for (const selection of selections) {
        if (selection.kind === "Field") {
          if (name === undefined || selection.name.value === name) found.push(selection);
        } else if (selection.kind === "InlineFragment") {
          visit(selection.selectionSet);
        } else if (!seen.has(selection.name.value)) {
          seen.add(selection.name.value);
          const fragment = info.fragments[selection.name.value];
          if (fragment !== undefined) visit(fragment.selectionSet);
        }
      }
    };
    for (const { selectionSet } of parents) if (selectionSet !== undefined) visit(selectionSet);
    return found;
  };
  const connection = [...info.fieldNodes];
  const nodes = [...of(connection, "nodes"), ...of(of(connection, "edges"), "node")];
  return new Set(of(nodes).map((field) => field.name.value));
}
