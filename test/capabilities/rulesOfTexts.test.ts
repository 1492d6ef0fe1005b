import { expect } from "chai";
import { requireCapability } from "tallystick-capabilities/capabilityOf";
import { holdRules, type RuleCase } from "./support/holdRules.ts";

const rulesOf = async (id: string, input: object) => {
  const { capability, parts } = await requireCapability(id);
  return capability.inputRules(input as never, parts).map(({ field, message }) => `${field}: ${message}`);
};
/** Words without meaning, each of five letters. */
const words = (count: number) => Array.from({ length: count }, (_, at) => `w${1000 + at}`).join(" ");
/** Other words than those of `words`. */
const others = (count: number) => words(count).replaceAll("w", "v");
const letters = (count: number) => "a".repeat(count);

describe("a transcript", () => {
  const id = "audio.transcribe.json-with-timestamps";
  const segments = (...all: [start: number, end: number, text?: string][]) => ({
    segments: all.map(([start_ms, end_ms, text = "word"]) => ({ start_ms, end_ms, text })),
  });
  it("has words, in the order of their times", async () => {
    await holdRules(id, "has_words", [
      [{}, segments([0, 1, "…"], [1, 2, "a"]), undefined],
      [{}, segments([0, 1, "…"], [1, 2, "5"]), "has no words in it"],
    ]);
    await holdRules(id, "is_in_order", [
      [{}, segments([0, 0], [0, 5], [5, 9]), undefined],
      [{}, segments([1, 0]), "segment 0 runs from 1 to 0 ms"],
      [{}, segments([5, 9], [4, 9]), "segment 1 runs from 4 to 9 ms"],
    ]);
    await holdRules(id, "does_not_overlap", [
      [{}, segments([0, 5], [5, 9]), undefined],
      [{}, segments([0, 5], [4, 9]), "segment 1 begins before the one before it ends"],
      [{}, segments([-1, 5]), "segment 0 begins before the one before it ends"],
    ]);
    expect(await rulesOf(id, { audio_url: "https://a.example/a.mp3" })).to.deep.equal([]);
    expect(await rulesOf(id, { audio_url: "a.mp3" })).to.deep.equal([
      "params.audio_url: must be an http or https address",
    ]);
  });

  it("is in the language of the id, or of the hint, and reads as it", async () => {
    const name = "is_in_the_asked_language";
    await holdRules(id, name, [
      [{ language_hint: "no" }, { language: "nb" }, undefined],
      [{ language_hint: "he" }, { language: "iw" }, undefined],
      [{ language_hint: "id" }, { language: "in" }, undefined],
      [{ language_hint: "en" }, { language: "it" }, "is in it, not en"],
      [{}, { language: "it" }, undefined],
    ]);
    await holdRules("audio.transcribe.it.json-with-timestamps", name, [
      [{ language_hint: "en" }, { language: "it" }, undefined],
      [{ language_hint: "en" }, { language: "en" }, "is in en, not it"],
    ]);
    const italian = "La riunione è stata spostata a giovedì mattina.";
    const said = (language: string, ...texts: string[]) => ({
      language,
      segments: texts.map((text) => ({ text })),
    });
    await holdRules(id, "reads_as_its_language", [
      [{}, said("it", ...italian.split(" ")), undefined],
      [{}, said("en", ...italian.split(" ")), "does not read as en, but as it"],
      [{}, said("xx", italian), undefined],
      [{}, said("ru", "Hello"), "does not read as ru, but as something else"],
    ]);
  });

  it("can be said in its time, and as a whole", async () => {
    // 45 letters in a second; each time may be 250 ms longer.
    await holdRules(id, "is_speakable", [
      [{}, segments([0, 750, letters(45)]), undefined],
      [{}, segments([0, 750, letters(46)]), "46 letters in 750 ms"],
      [{}, segments([1_000, 1_000, letters(11)]), undefined],
      [{}, segments([1_000, 1_000, letters(12)], [5_000, 9_000]), "12 letters in 0 ms"],
      [{}, segments([500, 500, letters(11)], [500, 750, letters(11)]), undefined],
      [{}, segments([500, 500, letters(11)], [500, 500, letters(11)]), "22 letters in 0 ms"],
      [{}, segments([500, 500, letters(11)], [600, 600, letters(9)]), "20 letters in 100 ms"],
      [{}, { segments: [] }, undefined],
    ]);
  });

  it("does not say the same again and again, and covers the recording", async () => {
    const lines = (...texts: string[]) => ({ segments: texts.map((text) => ({ text })) });
    await holdRules(id, "does_not_loop", [
      [{}, lines("a", "a", "a"), undefined],
      [{}, lines("a", "a", "b", "c"), undefined],
      [{}, lines("a", "A!", "a", "c"), "says the same 3 times"],
      [{}, lines("c", "a", "b", "A.", "a"), "says the same 3 times"],
    ]);
    const asked = { duration_ms: 10_000 };
    await holdRules(id, "covers_the_recording", [
      [{}, segments([0, 1]), undefined],
      [asked, segments([0, 1], [1, 5_000]), undefined],
      [asked, segments([0, 1], [1, 4_999]), "ends after 4999 of 10000 ms"],
      [asked, segments([0, 11_000]), undefined],
      [asked, segments([0, 11_001]), "ends 1001 ms after the recording"],
      [asked, { segments: [] }, "ends after 0 of 10000 ms"],
    ]);
  });
});

describe("the class of a text", () => {
  const [sentiment, toxicity] = ["classify.text.sentiment", "classify.text.toxicity"];
  it("is at least as likely as by chance", async () => {
    await holdRules(sentiment, "has_a_likely_winner", [
      [{}, { confidence: 0.33 }, undefined],
      [{}, { confidence: 0.32 }, "is 0.32 sure: less than chance"],
    ]);
    await holdRules(toxicity, "has_a_likely_winner", [
      [{}, { confidence: 0.5 }, undefined],
      [{}, { confidence: 0.49 }, "is 0.49 sure: less than chance"],
    ]);
  });

  it("is the plain one, and is not certain where there is no word", async () => {
    const text = "An excellent, wonderful stay";
    await holdRules(sentiment, "agrees_with_plain_words", [
      [{ text }, { sentiment: "positive" }, undefined],
      [{ text }, { sentiment: "neutral" }, "is plainly positive"],
      [{ text: "A stay" }, { sentiment: "negative" }, undefined],
    ]);
    const nothing = "finds a sentiment where there is no word";
    const sure = { sentiment: "positive", confidence: 0.61 };
    await holdRules(sentiment, "is_not_certain_of_nothing", [
      [{ text: "a 5 b" }, sure, nothing],
      [{ text: "ab" }, sure, undefined],
      [{ text: "😀" }, sure, undefined],
      [{ text: "5" }, { ...sure, confidence: 0.6 }, undefined],
      [{ text: "5" }, { ...sure, sentiment: "neutral" }, undefined],
    ]);
    await holdRules(toxicity, "is_not_certain_of_nothing", [
      [{ text: "a 5 b" }, { toxic: true, confidence: 0.61 }, "finds an insult where there is no word"],
      [{ text: "ab" }, { toxic: true, confidence: 0.61 }, undefined],
      [{ text: "5" }, { toxic: true, confidence: 0.6 }, undefined],
      [{ text: "5" }, { toxic: false, confidence: 0.9 }, undefined],
    ]);
    await holdRules(toxicity, "sees_plain_insults", [
      [{ text: "You are an idiot" }, { toxic: false }, "calls a plain insult harmless"],
      [{ text: "You are an idiot" }, { toxic: true }, undefined],
      [{ text: "You are" }, { toxic: false }, undefined],
    ]);
  });
});

describe("a rewritten text", () => {
  const id = "text.rewrite.formal";
  const pair = (before: string, after: string, said?: string): RuleCase => [
    { text: before },
    { text: after },
    said,
  ];
  it("has words, and another form", async () => {
    expect(await rulesOf(id, { text: "a" })).to.deep.equal([]);
    expect(await rulesOf(id, { text: "5" })).to.deep.equal(["params.text: has no words in it"]);
    await holdRules(id, "is_not_empty", [pair("a", "a"), pair("a", "5", "has no words in it")]);
    await holdRules(id, "is_changed", [pair("A b.", "A c."), pair("A b.", "a B", "is the same text")]);
  });

  it("is about as long: 40 letters more or less, or from 0.4 to 2.5 times", async () => {
    await holdRules(id, "has_plausible_length", [
      pair("", letters(40)),
      pair("", letters(41), "is 41.00 times as long"),
      pair(letters(4), letters(44)),
      pair(letters(44), letters(4)),
      pair(letters(45), letters(4), "is 0.09 times as long"),
      pair(letters(4), letters(45), "is 11.25 times as long"),
      pair(letters(100), letters(40)),
      pair(letters(100), letters(39), "is 0.39 times as long"),
      pair(letters(100), letters(250)),
      pair(letters(100), letters(251), "is 2.51 times as long"),
    ]);
  });

  it("is in the same language, and about the same if it is not short", async () => {
    const english = "The meeting of the council has moved to Thursday morning.";
    const italian = "La riunione del consiglio è stata spostata a giovedì mattina.";
    await holdRules(id, "is_in_the_same_language", [
      pair(english, english.toUpperCase()),
      pair(english, italian, "is not in en"),
      pair("ok", italian),
      pair("12345 67890", italian),
      pair(english, "The meeting has moved to Thursday."),
      // The source may also be Italian, although it reads more like Spanish.
      pair("Una persona compra una casa in una zona tranquilla.", italian),
    ]);
    const source =
      "Seven garden chairs, eight kitchen tables, white carpets, yellow curtains, greenhouse lights";
    await holdRules(id, "is_about_the_same", [
      pair(source, "Chairs and other things somewhere"),
      pair(source, "Something completely different", "shares 0 % of its words with the source"),
      pair(words(20), `${words(3)} ${others(17)}`),
      pair(words(20), `${words(2)} ${others(18)}`, "shares 10 % of its words with the source"),
      pair(letters(59), "Something"),
      pair(letters(60), "Something", "shares 0 % of its words with the source"),
    ]);
  });

  it("may stop anywhere if it is a short message of a chat in casual words", async () => {
    const [open, long] = ["stops within a sentence", letters(101)];
    await holdRules("text.rewrite.casual", "is_complete", [
      pair("A b.", letters(100)),
      pair("A b.", long, open),
      pair("A b", long),
    ]);
    await holdRules(id, "is_complete", [pair("A b.", "A", open), pair("A b.", "A.")]);
  });
});

describe("a summary", () => {
  const of = (text: string, summary: string, said?: string): RuleCase => [{ text }, { summary }, said];
  it("has at least one letter, and fewer words than its source, as many as asked", async () => {
    const id = "text.summarize.short";
    expect(await rulesOf(id, { text: words(40) })).to.deep.equal([]);
    expect(await rulesOf(id, { text: words(39) })).to.deep.equal([
      "params.text: must have at least 40 words",
    ]);
    await holdRules(id, "is_not_empty", [of("", "a"), of("", "5", "has no words in it")]);
    await holdRules(id, "is_shorter", [
      of(words(5), words(4)),
      of(words(5), words(5), "is not shorter than the source"),
    ]);
    for (const [length, least, most] of [
      ["short", 1, 20],
      ["medium", 10, 30],
      ["long", 25, 60],
    ] as const) {
      const wrong = (share: number) => `has ${share} % of the words, not ${least} to ${most} %`;
      await holdRules(`text.summarize.${length}`, "has_the_asked_length", [
        of(words(100), words(least)),
        of(words(100), words(least - 1), wrong(least - 1)),
        of(words(100), words(most)),
        of(words(100), words(most + 1), wrong(most + 1)),
      ]);
    }
  });

  it("is about its source, in its language, without new numbers and not a piece of it", async () => {
    const id = "text.summarize.short";
    const source = "garden chairs kitchen tables yellow curtains";
    await holdRules(id, "is_about_the_source", [
      of(source, "garden chairs with modern lights somewhere"),
      of(source, "garden things modern lights", "shares 25 % of its words with the source"),
      of(words(20), `${words(7)} ${others(13)}`),
      of(words(20), `${words(6)} ${others(14)}`, "shares 30 % of its words with the source"),
    ]);
    const english = "The meeting of the council has moved to Thursday morning.";
    await holdRules(id, "is_in_the_same_language", [
      of(english, english),
      of(english, "La riunione del consiglio è stata spostata a giovedì.", "is not in en"),
      of("ok", "La riunione del consiglio è stata spostata a giovedì."),
    ]);
    await holdRules(id, "invents_no_numbers", [
      of("We sold 1,200.", "1200 sold"),
      of("We sold 1,200.", "1300 sold", "has the number 1300, which the source does not have"),
    ]);
    const excerpt = "is one stretch of the source, nearly word for word";
    await holdRules(id, "is_no_excerpt", [
      of(words(50), words(5), excerpt),
      of(`x ${words(50)}`, words(20), excerpt),
      of(`x ${words(50)}`, words(5)),
    ]);
    await holdRules(id, "is_complete", [
      of("", "Done."),
      of("", "- a\n- b"),
      of("", "Done", "stops within a sentence"),
    ]);
  });
});

describe("a translation", () => {
  const id = "text.translate.en.it";
  const pair = (before: string, after: string, said?: string): RuleCase => [
    { text: before },
    { text: after },
    said,
  ];
  const times = (ratio: string) => `is ${ratio} times as long as the source`;
  it("has a letter or a digit, and a length that depends on that of its source", async () => {
    expect(await rulesOf(id, { text: "5" })).to.deep.equal([]);
    expect(await rulesOf(id, { text: "…" })).to.deep.equal(["params.text: has no words in it"]);
    await holdRules(id, "is_not_empty", [pair("", "5"), pair("", "…", "has no words in it")]);
    await holdRules(id, "has_plausible_length", [
      pair(letters(1), letters(39)),
      pair(letters(1), letters(40), times("40.00")),
      pair("", letters(40), times("40.00")),
      pair(letters(19), ""),
      pair(letters(20), letters(5), times("0.25")),
      pair(letters(20), letters(6)),
      pair(letters(100), letters(29), times("0.29")),
      pair(letters(100), letters(300)),
      pair(letters(100), letters(301), times("3.01")),
    ]);
    await holdRules(id, "is_about_as_long", [
      pair(letters(19), letters(500)),
      pair(letters(20), letters(44)),
      pair(letters(20), letters(45), times("2.25")),
      pair(letters(44), letters(20)),
      pair(letters(45), letters(20), times("0.44")),
      pair(letters(100), letters(50)),
      pair(letters(100), letters(49), times("0.49")),
      pair(letters(100), letters(220)),
      pair(letters(100), letters(221), times("2.21")),
    ]);
  });

  it("is in its language, more clearly if it is long", async () => {
    const [english, italian] = [
      "The meeting has moved to Thursday.",
      "La riunione è stata spostata a giovedì.",
    ];
    await holdRules(id, "is_in_target_language", [
      pair(english, italian),
      pair(english, english, "is not in it"),
    ]);
    await holdRules(id, "is_clearly_in_target_language", [
      pair(english, italian),
      pair(english, english, "reads as another language than it"),
    ]);
    // Up to 39 letters, Portuguese may be the second guess, because this reads more like Spanish.
    const near = "são importantes para todos";
    const long = (length: number) => `${near}${".".repeat(length - 23)}`;
    await holdRules("text.translate.en.pt", "is_clearly_in_target_language", [
      pair(english, near),
      pair(english, long(39)),
      pair(english, long(40), "reads as another language than pt"),
      pair(english, "this is what they think of it", "reads as another language than pt"),
    ]);
    await holdRules("text.translate.en.ru", "is_in_target_language", [
      pair("Windows Server License", "Лицензия Windows Server"),
      pair("The meeting has moved", "The meeting has moved", "is not in ru"),
    ]);
  });

  it("is another text if it is another language", async () => {
    const [long, short] = [`${letters(10)} ${letters(10)}.`, letters(18)];
    const same = "is the same text";
    await holdRules(id, "is_translated", [
      pair(long, long.toUpperCase(), same),
      pair(letters(20), letters(20), same),
      pair(letters(19), letters(19)),
      pair(short, short),
      pair(long, `${long}b`),
    ]);
    await holdRules("text.translate.en.en", "is_translated", [pair(long, long)]);
    const source = "these workers repair several bridges across every mountain valley";
    await holdRules(id, "is_translated_throughout", [
      pair(source, "these workers several attraverso ogni montagna valle riparano ponti oggi"),
      pair(
        source,
        "these workers several bridges attraverso ogni montagna valle riparano ponti",
        "has 40 % of its words from the source",
      ),
    ]);
    // Spanish and Italian share many words.
    await holdRules("text.translate.es.it", "is_translated_throughout", [pair(source, source)]);
    await holdRules("text.translate.es.en", "is_translated_throughout", [
      pair(source, source, "has 100 % of its words from the source"),
    ]);
    await holdRules("text.translate.en.it", "is_translated_throughout", [
      pair(source, source, "has 100 % of its words from the source"),
    ]);
  });
});
