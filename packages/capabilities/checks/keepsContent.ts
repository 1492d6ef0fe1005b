import type { Check } from "../defineCapability.ts";
import { linksIn } from "./linksIn.ts";
import { missingNumber } from "./numbersInText.ts";
import { endsSentence } from "./textMeasures.ts";

type Text = { text: string };

/**
 * The most links that are searched as text. If a link of the input is not among the links of the output, its text is
 * searched in the whole output. Further links count as lost.
 */
const MAX_SEARCHES = 50;

/**
 * The checks for an output that says the same as its input in other words. It must keep numbers and links, and must end
 * with a whole sentence if the input does.
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
