import type { Check } from "../defineCapability.ts";
import { endsSentence, linksIn, numbersIn } from "./textMeasures.ts";

type Text = { text: string };

/** What any text must keep that says the same in other words: its numbers, its links and its end. */
export const keepsContent = {
  keeps_numbers: {
    since: "v1",
    test: ({ input, output }) => {
      const kept = new Set(numbersIn(output.text));
      const lost = numbersIn(input.text).find((number) => !kept.has(number));
      return lost === undefined ? undefined : `has lost the number ${lost}`;
    },
  },
  keeps_links: {
    since: "v1",
    test: ({ input, output }) => {
      const lost = linksIn(input.text).find((link) => !output.text.includes(link));
      return lost === undefined ? undefined : `has lost ${lost}`;
    },
  },
  is_complete: {
    since: "v1",
    test: ({ input, output }) =>
      endsSentence(input.text) && !endsSentence(output.text) ? "stops within a sentence" : undefined,
  },
} satisfies { [name: string]: Check<Text, Text> };
