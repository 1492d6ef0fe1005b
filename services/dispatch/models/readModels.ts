import { InvalidInputError } from "tallystick-protocol/errors";
import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { z } from "zod";
import { type Model, type ModelTable, PROVIDERS, TIERS, type Tier } from "./modelTable.ts";
import { parsePrice } from "./money.ts";

/** The largest file, in characters. */
const MAX_LENGTH = 262_144;
const MAX_MODELS = 64;

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "must have 1 to 64 of a-z, 0-9, dot, dash and _");
const price = z
  .string("must be a price such as 0.25, in dollars for a million tokens")
  .regex(/^(0|[1-9]\d{0,5})(\.\d{1,6})?$/, "must be a price such as 0.25, in dollars for a million tokens");
const count = (most: number) => z.int().min(1).max(most);

const modelSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  id: z.string().min(1).max(128),
  base_url: z.url({ protocol: /^https?$/, message: "must be an http or https address" }).optional(),
  // If a file named another key, for example a wallet's, that key would be sent to a vendor.
  api_key_env: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,55}_API_KEY$/, "must be the name of a variable that ends in _API_KEY")
    .refine(
      (it) => !/^(TALLYSTICK|SETTLEMENT|DISPATCH|X)_/.test(it),
      "is the name of a key that belongs to no vendor",
    )
    .optional(),
  family: name,
  prices: z.strictObject({
    input: price,
    cached_input: price.optional(),
    output: price,
    reasoning: price.optional(),
  }),
  limits: z.strictObject({
    context: count(100_000_000),
    output: count(1_000_000),
    seconds: count(3_600).default(120),
  }),
  temperature: z.number().min(0).max(2).optional(),
  structured_output: z.boolean().default(true),
  stream: z.boolean().default(true),
});

const names = z.array(name).min(1).max(MAX_MODELS);

const fileSchema = z.strictObject({
  dated: z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "must be the day of the prices, as 2026-11-01"),
  models: z
    .record(name, modelSchema)
    .refine((it) => Object.keys(it).length <= MAX_MODELS, `must have at most ${MAX_MODELS} models`),
  tiers: z.strictObject({ thrifty: names, standard: names, premium: names }),
  classifier: name.optional(),
  shadow: z
    .strictObject({
      share: z.number().min(0).max(1).default(0),
      tiers: z.array(z.enum(TIERS)).max(TIERS.length).default(["premium"]),
      models: names,
    })
    .optional(),
});

type Path = readonly PropertyKey[];
type Fault = { path: Path; message: string };

/**
 * Reads models.yaml: `dated`, `models`, `tiers`, `classifier?`, `shadow?`.
 *
 * @param file its name, for the messages
 * @throws InvalidInputError `invalid_models` that names every fault with its line
 */
export function readModels(text: string, file = "models.yaml"): ModelTable {
  if (text.length > MAX_LENGTH)
    throw refuse([{ field: file, message: `is longer than ${MAX_LENGTH} characters` }]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (line: number): string => `${file} line ${line}`;
  if (document.errors.length > 0) {
    throw refuse(
      document.errors.map(({ pos, message }) => ({ field: at(lines.linePos(pos[0]).line), message })),
    );
  }
  keepPricesAsWritten(document);
  const lineOf = (path: Path): number => lines.linePos(positionOf(document, path)).line;
  const told = (faults: readonly Fault[]): InvalidInputError =>
    refuse(
      faults.map(({ path, message }) => ({
        field: at(lineOf(path)),
        message: `${path.map(String).join(".") || "the file"}: ${message}`,
      })),
    );
  const parsed = fileSchema.safeParse(plainValue(document, file));
  if (!parsed.success) {
    throw told(
      parsed.error.issues.map(({ path, message }) => ({
        path,
        message: message.endsWith("received undefined") ? "is required" : message,
      })),
    );
  }
  const table = tableOf(parsed.data);
  const faults = faultsOf(parsed.data, table);
  if (faults.length > 0) throw told(faults);
  return table;
}

/** Prices are read from their digits, quoted or not: JavaScript's numbers are not exact. */
function keepPricesAsWritten(document: Document): void {
  visit(document, {
    Pair(_, pair) {
      if (!isScalar(pair.key) || pair.key.value !== "prices" || !isNode(pair.value)) return;
      visit(pair.value as never, {
        Scalar(key, scalar) {
          if (key !== "key" && typeof scalar.value === "number" && scalar.source !== undefined)
            scalar.value = scalar.source;
        },
      });
    },
  });
}

function plainValue(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw refuse([{ field: file, message: (error as Error).message }]);
  }
}

/** The position of a path in the text, or of the nearest existing part of it. */
function positionOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

type Parsed = z.output<typeof fileSchema>;

function tableOf({ dated, models: given, tiers, classifier, shadow }: Parsed): ModelTable {
  const models = new Map<string, Model>();
  for (const [key, model] of Object.entries(given)) models.set(key, modelOf(key, model));
  const find = (list: readonly string[]): Model[] => list.flatMap((it) => models.get(it) ?? []);
  const named = classifier === undefined ? undefined : models.get(classifier);
  return {
    dated,
    models,
    tiers: { thrifty: find(tiers.thrifty), standard: find(tiers.standard), premium: find(tiers.premium) },
    ...(named && { classifier: named }),
    ...(shadow && {
      shadow: {
        share: Math.round(shadow.share * 1_000),
        tiers: shadow.tiers as Tier[],
        models: find(shadow.models),
      },
    }),
  };
}

function modelOf(key: string, model: Parsed["models"][string]): Model {
  const { prices, limits, base_url, api_key_env, temperature } = model;
  const { input, cached_input = input, output, reasoning = output } = prices;
  const tokenPrice = (text: string) => parsePrice(text, `models.${key}.prices`);
  return {
    name: key,
    provider: model.provider,
    id: model.id,
    family: model.family,
    prices: {
      input: tokenPrice(input),
      cachedInput: tokenPrice(cached_input),
      output: tokenPrice(output),
      reasoning: tokenPrice(reasoning),
    },
    limits,
    structuredOutput: model.structured_output,
    stream: model.stream,
    ...(base_url !== undefined && { baseUrl: base_url }),
    ...(api_key_env !== undefined && { apiKeyEnv: api_key_env }),
    ...(temperature !== undefined && { temperature }),
  };
}

const LOCAL = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|host\.docker\.internal)$/;

function faultsOf({ models, tiers, classifier, shadow }: Parsed, table: ModelTable): Fault[] {
  const faults: Fault[] = [];
  const say = (path: Path, message: string): void => void faults.push({ path, message });
  for (const [key, { provider, base_url, api_key_env, limits }] of Object.entries(models)) {
    if (provider === "openai-compatible" && base_url === undefined)
      say(["models", key], "base_url is required for openai-compatible");
    if (provider !== "openai-compatible" && api_key_env === undefined)
      say(["models", key], `api_key_env is required for ${provider}`);
    if (limits.output > limits.context) say(["models", key, "limits", "output"], "is more than the context");
    const url = base_url === undefined ? undefined : new URL(base_url);
    if (url?.protocol === "http:" && api_key_env !== undefined && !LOCAL.test(url.hostname))
      say(
        ["models", key, "base_url"],
        "must be https: otherwise everybody on the network could read the key",
      );
    if (url && (url.username !== "" || url.password !== ""))
      say(["models", key, "base_url"], "must have no password in it: use api_key_env");
  }
  const known = (list: readonly string[], path: Path): void => {
    for (const [index, it] of list.entries())
      if (!Object.hasOwn(models, it)) say([...path, index], `${it} is not listed under models`);
  };
  for (const tier of TIERS) known(tiers[tier], ["tiers", tier]);
  if (classifier !== undefined && !Object.hasOwn(models, classifier))
    say(["classifier"], `${classifier} is not listed under models`);
  if (shadow) {
    known(shadow.models, ["shadow", "models"]);
    const families = new Set(table.shadow?.models.map(({ family }) => family));
    for (const tier of TIERS)
      for (const { family, name: model } of table.tiers[tier])
        if (![...families].some((other) => other !== family))
          say(["shadow", "models"], `has no model of another family for ${model}, whose family is ${family}`);
  }
  return faults;
}

function refuse(issues: { field: string; message: string }[]): InvalidInputError {
  return new InvalidInputError({
    code: "invalid_models",
    issues,
    hint: "docs/dispatch.md describes models.yaml.",
  });
}
