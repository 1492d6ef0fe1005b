import { hasMarkup } from "../checks/hasMarkup.ts";
import { isFresh, isoSeconds } from "../checks/instants.ts";
import { CURRENCIES } from "../checks/isoCodes.ts";
import { isPublicPage, isWebAddress } from "../checks/webAddress.ts";
import { defineCapability } from "../defineCapability.ts";

/** `data.extract.from-url`: named fields of a public page. A field that is missing on the page is null. */
export const dataExtractFromUrl = defineCapability({
  id: "data.extract.from-url",
  summary: "named fields of a public page",
  input: {
    type: "object",
    properties: {
      url: { type: "string", minLength: 8, maxLength: 4096 },
      fields: {
        type: "array",
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
        items: { type: "string", minLength: 1, maxLength: 64 },
      },
      max_response_kb: { type: "integer", minimum: 1, maximum: 4096 },
      /** When the buyer asked, in unix seconds, so that the age of an answer can be checked without a clock. */
      asked_at: { type: "integer", minimum: 1_577_836_800 },
    },
    required: ["url", "fields"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      url: { type: "string" },
      extracted: { type: "object" },
      confidence: { type: "number", minimum: 0, maximum: 1 },
      extracted_at: { type: "string", maxLength: 40 },
    },
    required: ["url", "extracted", "confidence", "extracted_at"],
  },
  inputRules: ({ url }) =>
    isPublicPage(url)
      ? []
      : [{ field: "params.url", message: "must be the http or https address of a public page" }],
  checks: {
    is_of_the_asked_page: {
      since: "v0",
      test: ({ input, output }) =>
        isSameAddress(output.url, input.url) ? undefined : `is of ${output.url.slice(0, 200)}`,
    },
    has_every_field: {
      since: "v0",
      test: ({ input, output }) => {
        const missing = input.fields.find((field) => !Object.hasOwn(output.extracted, field));
        return missing === undefined ? undefined : `has no ${missing}`;
      },
    },
    has_a_time: {
      since: "v0",
      test: ({ output }) =>
        isoSeconds(output.extracted_at) === undefined ? "has no ISO 8601 time of extraction" : undefined,
    },
    has_fields_of_their_kind: {
      since: "v0",
      test: ({ input, output }) => {
        for (const field of input.fields) {
          const complaint = fieldComplaint(field, output.extracted[field]);
          if (complaint !== undefined) return `${field} ${complaint}`;
        }
        return undefined;
      },
    },
    is_fresh: {
      since: "v1",
      // A cached page may be a day old. A time in the future is wrong.
      test: ({ input, output }) =>
        isFresh(isoSeconds(output.extracted_at) ?? 0, input.asked_at, 86_400)
          ? undefined
          : `is of ${output.extracted_at}`,
    },
    has_found_something: {
      since: "v1",
      test: ({ input, output }) => {
        const isEmpty = (value: unknown): boolean =>
          value === null || value === undefined || (typeof value === "string" && value.trim() === "");
        return input.fields.every((field) => isEmpty(output.extracted[field])) ? "found nothing" : undefined;
      },
    },
    has_clean_values: {
      since: "v1",
      test: ({ input, output }) => {
        const dirty = input.fields.find((field) => isDirty(output.extracted[field], field));
        if (dirty !== undefined) return `${dirty} has markup or a placeholder in it`;
        const lazy = input.fields.find((field) => isLazy(field, output.extracted[field], input.url));
        return lazy === undefined
          ? undefined
          : `${lazy} has its own name, or the page's address, as its value`;
      },
    },
    has_distinct_values: {
      since: "v1",
      test: ({ input, output }) => {
        // A page often has one title in several places.
        if (input.fields.every((field) => /title|headline|^h\d$/i.test(field))) return undefined;
        const texts = input.fields
          .map((field) => output.extracted[field])
          .filter((value) => typeof value === "string");
        return texts.length > 2 && new Set(texts).size === 1
          ? "has the same value in every field"
          : undefined;
      },
    },
  },
});

/** Whether two texts are the same URL for a browser. */
function isSameAddress(one: string, other: string): boolean {
  if (one === other) return true;
  return isWebAddress(one) && isWebAddress(other) && new URL(one).href === new URL(other).href;
}

/** Why a value breaks the conventions for names of fields; undefined when it does not. Null is always right. */
function fieldComplaint(field: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  const holds = (isRight: boolean, complaint: string): string | undefined =>
    isRight ? undefined : complaint;
  if (field.endsWith("_currency")) {
    return holds(typeof value === "string" && CURRENCIES.has(value), "is no ISO 4217 currency");
  }
  if (field.endsWith("_amount")) {
    return holds(typeof value === "number" && Number.isFinite(value) && value >= 0, "is no amount");
  }
  if (field === "availability") {
    return holds(
      ["in_stock", "out_of_stock", "unknown"].includes(value as string),
      "is not in_stock, out_of_stock or unknown",
    );
  }
  if (field.endsWith("_url")) {
    return holds(isWebAddress(value) && value.startsWith("https://"), "is no https address");
  }
  if (field === "description_short") {
    return holds(typeof value === "string" && [...value].length <= 280, "is longer than 280 characters");
  }
  if (field.endsWith("_at")) return holds(isoSeconds(value) !== undefined, "is no ISO 8601 time");
  const isPlain = ["string", "number", "boolean"].includes(typeof value) || Array.isArray(value);
  return holds(isPlain || typeof value === "object", "is no value");
}

/** Whether a value repeats only what was asked. */
function isLazy(field: string, value: unknown, url: string): boolean {
  if (typeof value !== "string") return false;
  const text = value.trim().toLowerCase();
  const isAddress = /ur[il]|link|href|address|canonical|source|site|page|guid|(?:^|[^a-z])id$/i.test(field);
  return (
    text === field.toLowerCase().replaceAll("_", " ") ||
    text === field.toLowerCase() ||
    (!isAddress && isSameAddress(value.trim(), url))
  );
}

/** The titles of pages that a server shows in place of the wanted page. */
const NO_PAGE =
  /^(?:error 40[34]|(?:error )?40[34] (?:not found|forbidden)|(?:page )?not found|access denied|just a moment[.…]{0,3}|attention required!.{0,40}|are you (?:a )?(?:robot|human)\?)$/i;

function isDirty(value: unknown, field?: string): boolean {
  if (value !== null && typeof value === "object") return Object.values(value).some((part) => isDirty(part));
  if (typeof value !== "string") return false;
  // "unknown" is one of the three values of this field.
  if (field === "availability" && value === "unknown") return false;
  return (
    hasMarkup(value) ||
    NO_PAGE.test(value.trim()) ||
    /&(?:amp|lt|gt|quot|nbsp|#\d{1,7});|\{\{|\[object Object\]/i.test(value) ||
    /^(n\/?a|null|none|undefined|todo|tbd|unknown|lorem ipsum.*|\?+|-+)$/i.test(value.trim())
  );
}
