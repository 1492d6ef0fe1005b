import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  buildSchema,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  type TypeNode,
  validate,
} from "graphql";
import { repositoryRoot } from "../scripts/repositoryRoot.ts";

const SDL = `${repositoryRoot}/indexer/schema.graphql`;
const OPERATIONS = `${repositoryRoot}/packages/sdk/query/operations.graphql`;

/**
 * The file with the client's typed functions, generated from the committed SDL and operations. A test compares the file
 * with both.
 */
export const QUERIES_FILE = `${repositoryRoot}/packages/sdk/query/createGraphqlClient.ts`;

/** The file with the forms of the client's answers, by which the command line checks what a node answers. */
export const FORMS_FILE = `${repositoryRoot}/scripts/query/graphqlForms.ts`;

/** How scalars arrive in JSON. All other scalars are strings: addresses, ids, money, large integers. */
const SCALARS: { [name: string]: string } = {
  Int: "number",
  Float: "number",
  SafeInt: "number",
  Boolean: "boolean",
  JSON: "unknown",
};

/** The forms of scalars. All other scalars are strings. */
const SCALAR_FORMS: { [name: string]: string } = {
  Int: "z.int()",
  Float: "z.number()",
  SafeInt: "z.int()",
  Boolean: "z.boolean()",
  JSON: "z.unknown()",
};

function readOperations(): { schema: GraphQLSchema; operations: OperationDefinitionNode[] } {
  const schema = buildSchema(readFileSync(SDL, "utf8"));
  const document = parse(readFileSync(OPERATIONS, "utf8"));
  const errors = validate(schema, document);
  if (errors.length > 0) throw new Error(errors.map((error) => error.message).join("\n"));
  const operations = document.definitions.filter((it) => it.kind === Kind.OPERATION_DEFINITION);
  return { schema, operations };
}

/** The text of {@link FORMS_FILE}. */
export function formsText(): string {
  const { schema, operations } = readOperations();
  const root = schema.getQueryType();
  if (!root) throw new Error("The schema has no queries.");
  const forms = operations.map(
    (operation) => `  ${namesOf(operation).field}: () => ${bareForm(root, operation.selectionSet)},`,
  );
  return `// Generated from indexer/schema.graphql and operations.graphql: npm run generate:queries.

import { z } from "zod";

/** The form of the answer to each query of operations.graphql. A newer node may have more values of an enum. */
export const graphqlForms = {
${forms.join("\n")}
};
`;
}

function formOf(type: GraphQLOutputType, selection: SelectionSetNode | undefined): string {
  if (isNonNullType(type)) return bareForm(type.ofType, selection);
  const form = bareForm(type, selection);
  return form === SCALAR_FORMS.JSON ? form : `${form}.nullable()`;
}

function bareForm(type: GraphQLOutputType, selection: SelectionSetNode | undefined): string {
  if (isListType(type)) return `z.array(${formOf(type.ofType, selection)})`;
  if (!isObjectType(type)) return SCALAR_FORMS[String(type)] ?? "z.string()";
  const fields = (selection?.selections ?? []).map((field) => {
    if (field.kind !== Kind.FIELD) throw new Error("Operations select fields only.");
    const found = type.getFields()[field.name.value];
    if (!found) throw new Error(`${type}.${field.name.value} is not there.`);
    return `${field.alias?.value ?? field.name.value}: ${formOf(found.type, field.selectionSet)}`;
  });
  return `z.object({ ${fields.join(", ")} })`;
}

/** The text of {@link QUERIES_FILE}. */
export function queriesText(): string {
  const { schema, operations } = readOperations();
  const inputs = new Set<string>();
  const types = operations.map((operation) => typesOf(schema, operation, inputs));
  const members = operations.map((operation) => {
    const { name, field } = namesOf(operation);
    const optional = (operation.variableDefinitions ?? []).every(
      ({ type }) => type.kind !== Kind.NON_NULL_TYPE,
    );
    const variables = operation.variableDefinitions?.length
      ? `variables${optional ? "?" : ""}: ${name}Variables, `
      : "";
    const call = variables === "" ? "{}" : optional ? "variables ?? {}" : "variables";
    const names = variables === "" ? "options" : "variables, options";
    return {
      type: `  ${field}: (${variables}options?: AskOptions) => Promise<${name}Answer>;`,
      code: `    ${field}: (${names}) => ask(\`${print(operation)}\`, ${call}, options),`,
    };
  });
  return `// Generated from indexer/schema.graphql and operations.graphql: npm run generate:queries.

${[...inputs].join("\n\n")}

${types.join("\n\n")}

/** \`signal\` ends the wait for the answer. */
export type AskOptions = { signal?: AbortSignal | undefined };

/** One function for each query of operations.graphql; each gives the answer's \`data\`. */
export type GraphqlClient = {
${members.map((it) => it.type).join("\n")}
};

/** @param ask sends a query with its variables and gives \`data\` */
export function createGraphqlClient(
  ask: <Answer>(query: string, variables: object, options: AskOptions | undefined) => Promise<Answer>,
): GraphqlClient {
  return {
${members.map((it) => it.code).join("\n")}
  };
}
`;
}

function namesOf({ name }: OperationDefinitionNode): { name: string; field: string } {
  const given = name?.value ?? "";
  return { name: given, field: given.charAt(0).toLowerCase() + given.slice(1) };
}

function typesOf(schema: GraphQLSchema, operation: OperationDefinitionNode, inputs: Set<string>): string {
  const { name } = namesOf(operation);
  const root = schema.getQueryType();
  if (!root) throw new Error("The schema has no queries.");
  const answer = `export type ${name}Answer = ${objectType(root, operation.selectionSet)};`;
  const variables = operation.variableDefinitions ?? [];
  if (variables.length === 0) return answer;
  const fields = variables.map(({ variable, type }) => {
    const required = type.kind === Kind.NON_NULL_TYPE;
    return `  ${variable.name.value}${required ? "" : "?"}: ${inputType(schema, type, inputs)};`;
  });
  return `export type ${name}Variables = {\n${fields.join("\n")}\n};\n\n${answer}`;
}

function objectType(type: GraphQLOutputType, selection: SelectionSetNode): string {
  if (!isObjectType(type)) throw new Error(`${type} is no object.`);
  const fields = selection.selections.map((field) => {
    if (field.kind !== Kind.FIELD) throw new Error("Operations select fields only.");
    const found = type.getFields()[field.name.value];
    if (!found) throw new Error(`${type}.${field.name.value} is not there.`);
    return `${field.alias?.value ?? field.name.value}: ${outputType(found.type, field.selectionSet)};`;
  });
  return `{ ${fields.join(" ")} }`;
}

function outputType(type: GraphQLOutputType, selection: SelectionSetNode | undefined): string {
  return isNonNullType(type) ? bareType(type.ofType, selection) : `${bareType(type, selection)} | null`;
}

function bareType(type: GraphQLOutputType, selection: SelectionSetNode | undefined): string {
  if (isListType(type)) return `(${outputType(type.ofType, selection)})[]`;
  if (isScalarType(type)) return SCALARS[type.name] ?? "string";
  if (isEnumType(type)) return enumType(type.getValues().map((it) => it.name));
  if (selection === undefined) throw new Error(`${type} needs a selection.`);
  return objectType(type, selection);
}

function inputType(schema: GraphQLSchema, type: TypeNode, inputs: Set<string>): string {
  if (type.kind === Kind.NON_NULL_TYPE) return inputType(schema, type.type, inputs).replace(/ \| null$/, "");
  if (type.kind === Kind.LIST_TYPE) return `(${inputType(schema, type.type, inputs)})[] | null`;
  const named = schema.getType(type.name.value);
  if (isEnumType(named)) return `${enumType(named.getValues().map((it) => it.name))} | null`;
  if (isScalarType(named)) return `${SCALARS[named.name] ?? "string"} | null`;
  if (named && "getFields" in named) {
    const fields = Object.values(named.getFields()).map(
      (field) => `  ${field.name}?: ${inputType(schema, parseTypeOf(String(field.type)), inputs)};`,
    );
    inputs.add(`export type ${named.name} = {\n${fields.join("\n")}\n};`);
    return `${named.name} | null`;
  }
  throw new Error(`${type.name.value} is no input.`);
}

function parseTypeOf(text: string): TypeNode {
  const [definition] = parse(`query ($it: ${text}) { it }`).definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`${text} is no type.`);
  const [variable] = definition.variableDefinitions ?? [];
  if (!variable) throw new Error(`${text} is no type.`);
  return variable.type;
}

function enumType(values: string[]): string {
  return values.map((value) => `"${value}"`).join(" | ");
}

if (import.meta.filename === process.argv[1]) {
  for (const [file, text] of [
    [QUERIES_FILE, queriesText()],
    [FORMS_FILE, formsText()],
  ] as const) {
    writeFileSync(file, text);
    console.log(`wrote ${path.relative(repositoryRoot, file)}`);
  }
}
