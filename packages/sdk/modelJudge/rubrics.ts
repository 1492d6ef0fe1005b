/**
 * What good work is, by family of capabilities, in a few sentences for a model. The longest matching family
 * counts. Families whose results a text model cannot see have no rubric.
 */
const rubrics: { readonly [family: string]: string } = {
  "text.translate":
    "The result is the whole text of the request in the target language of the capability: nothing left out, nothing added, names and numbers kept, meaning kept, fluent. A text that only looks like that language, repeats the source, or translates another text is bad.",
  "text.summarize":
    "The result says what is most important in the text of the request, in its language and of the asked length, in its own words, and says nothing that the text does not say. General phrases that would fit any text are bad.",
  "text.rewrite":
    "The result says the same as the text of the request in the asked manner. Lost or invented content is bad, and so is the text as it was.",
  "classify.text":
    "Every label is one of those that were asked for and is what a careful reader would choose. Scores that do not fit the labels are bad.",
  "code.review":
    "Every finding names a real fault of the code of the request, at the place where it is, with a reason that holds. Faults that anybody would see and that are not named, invented ones, and general advice are bad.",
  "code.execute":
    "The output is what the program of the request prints or returns for its input. Check it by hand where you can; an output that the program cannot produce is bad.",
  compute:
    "The number is what the request asks for, within the precision it asks for. Compute it again; a plausible number that is not the right one is bad.",
  "data.extract":
    "Every value stands in the source as far as the request shows it, and fits the schema that was asked for. Made-up values are bad. What only the source could show, and the request does not, cannot be judged.",
  "data.lookup":
    "The entries answer the question of the request, fit one another, and could be true at the time. Made-up sources and entries about something else are bad. What only the outside could show cannot be judged.",
  "audio.transcribe":
    "The words are one text in the language that was asked for, with times in order. What only the recording could show cannot be judged.",
  "image.generate.illustration.svg":
    "The drawing, read as SVG, shows what was asked for. An empty drawing, or one of something else, is bad.",
  "chart.generate":
    "The chart shows every value of the request, with its name, in the form that was asked for. Invented or missing values are bad.",
};

/** Families whose results are not text. */
const UNSEEN = ["image.generate.photorealistic", "image.generate.illustration.png", "image.upscale", "embed"];

const GENERAL =
  "The result is what the request asks for: complete, correct, and made for this request. Work that would fit any request, is invented, or is about something else is bad.";

/**
 * The rubric of a capability; undefined if a text model cannot see its results.
 *
 * @param own rubrics that take precedence over these, by family or whole capability
 */
export function rubricOf(
  capability: string,
  own: { readonly [family: string]: string } = {},
): string | undefined {
  return (
    longest(capability, own) ??
    longest(capability, rubrics) ??
    (UNSEEN.some((family) => isOf(capability, family)) ? undefined : GENERAL)
  );
}

function longest(capability: string, known: { readonly [family: string]: string }): string | undefined {
  const families = Object.keys(known).filter((family) => isOf(capability, family));
  const [family] = families.sort((a, b) => b.length - a.length);
  return family === undefined ? undefined : known[family];
}

function isOf(capability: string, family: string): boolean {
  return capability === family || capability.startsWith(`${family}.`);
}
