import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getIntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  type ValidationRule,
} from "graphql";
import type { Plugin } from "graphql-yoga";
import type { QueryContext } from "./context.ts";

/** The average length of each list in the introspection, by its field. */
type Sizes = { [field: string]: number };

/** The price of the whole schema in addition to its length, because making it blocks all other requests. */
const WHOLE_SCHEMA_POINTS = 80;

/** The limit is GraphiQL's own query at its start, and a little more. */
const ROOM = 1.25;

/**
 * Refuses introspection that asks for much more than the whole schema once. The limits for depth and cost do not
 * count introspection. So a short query with thirty aliases, or with types of fields of types, could produce
 * megabytes.
 */
export function introspectionLimit(): Plugin {
  let known: Introspection | undefined;
  return {
    onValidate: ({ addValidationRule, params }) => {
      known ??= introspectionOf(params.schema as GraphQLSchema);
      addValidationRule(ruleFor(known));
    },
    onExecute: ({ args: { document, contextValue } }) => {
      if (known === undefined) return;
      const part = valuesAsked(document, known.sizes) / known.whole;
      (contextValue as unknown as QueryContext).charge(WHOLE_SCHEMA_POINTS * part);
    },
  };
}

type Introspection = { sizes: Sizes; whole: number };

function introspectionOf(schema: GraphQLSchema): Introspection {
  const sizes = sizesOf(schema);
  return { sizes, whole: valuesAsked(parse(getIntrospectionQuery()), sizes) };
}

function ruleFor({ sizes, whole }: Introspection): ValidationRule {
  const most = ROOM * whole;
  return (context) => ({
    Document: (document) => {
      if (valuesAsked(document, sizes) <= most) return;
      const message = "This asks for more than the whole schema; ask for a part of it.";
      context.reportError(new GraphQLError(message, { extensions: { code: "QUERY_TOO_COSTLY" } }));
    },
  });
}

/** The approximate number of values in the answer to the introspection in a document. */
function valuesAsked(document: DocumentNode, sizes: Sizes): number {
  const fragments = new Map<string, SelectionSetNode>();
  for (const it of document.definitions) {
    if (it.kind === Kind.FRAGMENT_DEFINITION) fragments.set(it.name.value, it.selectionSet);
  }
  const known = new Map<string, number>();

  const ofSelections = (set: SelectionSetNode | undefined, isRoot: boolean): number => {
    let sum = 0;
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD) sum += ofField(selection, isRoot);
      else if (selection.kind === Kind.INLINE_FRAGMENT) sum += ofSelections(selection.selectionSet, isRoot);
      else sum += ofFragment(selection.name.value, isRoot);
    }
    return sum;
  };
  const ofField = ({ name: { value: name }, selectionSet }: FieldNode, isRoot: boolean): number => {
    // Introspection begins only at the root of a query. Other fields there have their own limits.
    if (isRoot && name !== "__schema" && name !== "__type") return 0;
    return 1 + (sizes[name] ?? 1) * ofSelections(selectionSet, false);
  };
  const ofFragment = (name: string, isRoot: boolean): number => {
    const key = `${isRoot} ${name}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    // Fragments may refer to each other in a circle. The zero ends the circle here, and another rule refuses the
    // query.
    known.set(key, 0);
    const values = ofSelections(fragments.get(name), isRoot);
    known.set(key, values);
    return values;
  };

  let sum = 0;
  for (const it of document.definitions) {
    if (it.kind === Kind.OPERATION_DEFINITION) sum += ofSelections(it.selectionSet, true);
  }
  return sum;
}

function sizesOf(schema: GraphQLSchema): Sizes {
  const types = Object.values(schema.getTypeMap());
  const withFields = types.filter((it) => isObjectType(it) || isInterfaceType(it));
  const fields = withFields.map((it) => Object.values(it.getFields()));
  const inputs = types.filter(isInputObjectType);
  const average = (counts: number[]) =>
    Math.max(1, counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length));
  return {
    types: types.length,
    fields: average(fields.map((it) => it.length)),
    args: average(fields.flat().map((it) => it.args.length)),
    inputFields: average(inputs.map((it) => Object.keys(it.getFields()).length)),
    enumValues: average(types.filter(isEnumType).map((it) => it.getValues().length)),
    directives: schema.getDirectives().length,
    // About half of the types are lists or non-null, and few are both.
    ofType: 0.5,
  };
}
