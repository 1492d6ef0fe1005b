import { readFileSync, writeFileSync } from "node:fs";
import { buckets } from "tallystick-derive/buckets";
import { type FieldType, units } from "tallystick-derive/publishedField";
import { camelName, fieldNames, publishedFieldOf } from "tallystick-derive/publishedFields";
import { repositoryRoot } from "../scripts/repositoryRoot.ts";

const TYPES: { [T in FieldType]: string } = {
  block: "number",
  time: "number",
  count: "number",
  weight: "number",
  rate: "number | null",
  latency: "number | null",
  stars: "number | null",
  usdc: "string",
  prices: "{ [capability: string]: string }",
  text: "string",
  texts: "string[]",
  flag: "boolean",
  id: "string | null",
};

/** The type of the SDK's answers. */
function typeText(): string {
  const members = fieldNames.map((name) => {
    const { type, description } = publishedFieldOf(name);
    return `  /** ${description} (${units[type]}) */\n  ${name}: ${TYPES[type]};`;
  });
  return `// Generated from packages/derive/publishedFields.ts: npm run generate:fields.

/** An agent's public fields, as of the last tick (SHP §9.2). Rates are null when there is nothing to divide by. */
export type PublishedFields = {
${members.join("\n")}
};
`;
}

/** The table of definitions. */
function tableText(): string {
  const rows = fieldNames.map((name) => {
    const { type, formula, section, source, bucket } = publishedFieldOf(name);
    const coarse = bucket === undefined ? "exact" : buckets[bucket].text;
    return `| \`${name}\` | ${units[type]} | ${formula} | ${source.join(", ")} | ${coarse} | ${section} |`;
  });
  return [
    "| field | unit | definition | made of | with private metrics | source |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

/** The fields of an agent that the SDK's client requests. */
function selectionText(): string {
  const selection = fieldNames.map((name) =>
    publishedFieldOf(name).type === "prices"
      ? `    ${camelName(name)} {\n      capability\n      medianUsdc\n    }`
      : `    ${camelName(name)}`,
  );
  return selection.join("\n");
}

/** The text that a file should have: `text` between its two marks, and the rest, which people write, as it is now. */
function between(file: string, begin: string, end: string, text: string): string {
  const now = readFileSync(`${repositoryRoot}/${file}`, "utf8");
  const [before, rest] = now.split(`${begin}\n`);
  const [, after] = (rest ?? "").split(end);
  if (before === undefined || after === undefined)
    throw new Error(`${file} has no part from ${begin} to ${end}.`);
  return `${before}${begin}\n${text}\n${end}${after}`;
}

/** Every file that is made from the table of published fields, by its path, with its expected text. */
export function fieldFiles(): { [file: string]: string } {
  const spec = "docs/specification.md";
  const operations = "packages/sdk/query/operations.graphql";
  return {
    "packages/sdk/query/publishedFields.ts": typeText(),
    [spec]: between(spec, "<!-- published fields: npm run generate:fields -->", "<!-- end -->", tableText()),
    [operations]: between(
      operations,
      "    # Published fields: npm run generate:fields.",
      "    # End.",
      selectionText(),
    ),
  };
}

if (import.meta.filename === process.argv[1]) {
  for (const [file, text] of Object.entries(fieldFiles())) {
    writeFileSync(`${repositoryRoot}/${file}`, text);
    console.log(`wrote ${file}`);
  }
}
