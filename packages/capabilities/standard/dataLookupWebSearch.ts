import { hasMarkup } from "../checks/hasMarkup.ts";
import { plain } from "../checks/samePlace.ts";
import { stemsOf } from "../checks/textMeasures.ts";
import { isPublicPage, isWebAddress } from "../checks/webAddress.ts";
import { defineCapability } from "../defineCapability.ts";

/** `data.lookup.web-search`: pages found for a query. */
export const dataLookupWebSearch = defineCapability({
  id: "data.lookup.web-search",
  summary: "pages found for a query",
  input: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, maxLength: 1000 },
      limit: { type: "integer", minimum: 1, maximum: 100 },
    },
    required: ["query"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      results: {
        type: "array",
        maxItems: 100,
        items: {
          type: "object",
          properties: {
            url: { type: "string", maxLength: 4096 },
            title: { type: "string", maxLength: 1000 },
            snippet: { type: "string", maxLength: 10_000 },
          },
          required: ["url", "title", "snippet"],
        },
      },
    },
    required: ["results"],
  },
  checks: {
    has_addresses: {
      since: "v0",
      test: ({ output }) => {
        const wrong = output.results.find(({ url }) => !isWebAddress(url));
        return wrong ? `${JSON.stringify(wrong.url.slice(0, 80))} is no address` : undefined;
      },
    },
    keeps_the_limit: {
      since: "v0",
      test: ({ input, output }) =>
        output.results.length <= (input.limit ?? 100) ? undefined : `has ${output.results.length} results`,
    },
    has_found_something: {
      since: "v1",
      test: ({ output }) => (output.results.length > 0 ? undefined : "found nothing"),
    },
    has_public_addresses: {
      since: "v1",
      test: ({ output }) => {
        const inner = output.results.find(({ url }) => !isPublicPage(url));
        return inner ? `${inner.url.slice(0, 80)} is no public address` : undefined;
      },
    },
    repeats_nothing: {
      since: "v1",
      test: ({ output }) => {
        const pages = output.results.map(({ url }) => (url.split("#")[0] as string).replace(/\/$/, ""));
        return new Set(pages).size < pages.length ? "has the same page twice" : undefined;
      },
    },
    has_titles: {
      since: "v1",
      test: ({ input, output }) => {
        // A query about an element of HTML finds pages with this element in their titles.
        const named = new Set(plain(input.query).split(" "));
        const isClean = (text: string): boolean => /[\p{L}\p{N}]/u.test(text) && !hasMarkup(text, named);
        const bare = output.results.find(({ title }) => !isClean(title));
        return bare ? `${bare.url.slice(0, 80)} has no title, or markup in it` : undefined;
      },
    },
    is_about_the_query: {
      since: "v1",
      test: ({ input, output }) => {
        const words = wordsOf(input.query);
        // Many Korean nouns have one syllable. A longer word of the query says more than such a noun.
        const partsOf = words.size > 0 ? wordsOf : syllablesOf;
        const wanted = words.size > 0 ? words : syllablesOf(input.query);
        if (wanted.size === 0) return undefined;
        const about = output.results.filter(({ url, title, snippet }) => {
          const found = partsOf(`${title} ${snippet} ${url}`);
          return [...wanted].some((word) => found.has(word));
        });
        return about.length * 2 >= output.results.length
          ? undefined
          : `only ${about.length} of ${output.results.length} results have a word of the query`;
      },
    },
  },
});

/** The words of a text and their stems. Two texts on one subject have at least one of them in common. */
function wordsOf(text: string): Set<string> {
  // The plural of a short word counts as the word itself: "cats" finds "Cat breeds".
  const bare = composed(text).replace(/\b([a-z]{3,4})s\b/g, (word, one) => (STOP.has(word) ? word : one));
  const words = stemsOf(bare);
  for (const word of bare.split(" ")) {
    if ([...word].length > 1 && !STOP.has(word)) words.add(word);
    // Korean writes particles and other words together with a word: the weather of Seoul is 서울의 날씨 or 서울날씨.
    for (const [run] of word.matchAll(/\p{Script=Hangul}+/gu))
      for (let at = 0; at + 2 <= run.length; at++) {
        const pair = run.slice(at, at + 2);
        if (at === 0 || !KOREAN_ENDINGS.has(pair)) words.add(pair);
      }
    // These scripts have no spaces between words.
    if (/[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(word))
      for (let at = 0; at + 4 <= word.length; at++) words.add(word.slice(at, at + 4));
  }
  return words;
}

function syllablesOf(text: string): Set<string> {
  return new Set(composed(text).match(/[가-힣]/g));
}

/** `plain` takes Korean syllables apart. */
function composed(text: string): string {
  return plain(text).normalize("NFC");
}

/** Particles and endings. Texts on different subjects have them in common. At the beginning of a word they may be a noun. */
const KOREAN_ENDINGS = new Set(
  "에서 으로 에게 까지 부터 하는 하기 하고 해서 한다 했다 니다 습니 입니 합니 됩니 이다 있는 있다 없는 되는 된다".split(
    " ",
  ),
);

const STOP = new Set(
  "a an at as be by do go he if in is it me my no of on or so to up us we am de la le el il un en et du au al im zu the and for with how what from that this does are was who why when come der die das und les des per che con una los las".split(
    " ",
  ),
);
