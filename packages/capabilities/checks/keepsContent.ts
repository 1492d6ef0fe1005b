import type { Check } from "../defineCapability.ts";
import { linksIn } from "./linksIn.ts";
import { missingNumber } from "./numbersInText.ts";
import { endsSentence } from "./textMeasures.ts";

type Text = { text: string };

/**
 * The most links that are searched in the whole text, after they were not found as separate links in the output.
 */
const MAX_SEARCHES = 50;

/**
 * The checks for an output that says the same as its input in other words: it must keep numbers, links and the end.
 */
export const keepsContent = {
  keeps_numbers: {
    since: "v1",
    test: ({ input, output }) => {
      const lost = missingNumber(input.text, output.text);
      return lost === undefined ? undefined : `has lost the number ${lost}`;
    },
  },
  keeps_links: {
    since: "v1",
    test: ({ input, output }) => {
      const kept = new Set(linksIn(output.text));
      const others = [...new Set(linksIn(input.text))].filter((link) => !kept.has(link));
      const lost = others.find((link, at) => at >= MAX_SEARCHES || !output.text.includes(link));
      return lost === undefined ? undefined : `has lost ${lost}`;
    },
  },
  is_complete: {
    since: "v1",
    test: ({ input, output }) =>
      endsSentence(input.text) && !endsSentence(output.text) ? "stops within a sentence" : undefined,
  },
} satisfies { [name: string]: Check<Text, Text> };
