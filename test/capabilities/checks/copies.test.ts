import { expect } from "chai";
import { isExcerpt } from "tallystick-capabilities/checks/isExcerpt";
import { keepsContent } from "tallystick-capabilities/checks/keepsContent";
import { untranslatedShare, withoutNames } from "tallystick-capabilities/checks/untranslated";

/** Different words, from one number to another. */
const words = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `w${from + at}`);
const source = words(0, 200).join(" ");

describe("an excerpt", () => {
  const isFrom = (...parts: string[][]) => isExcerpt(parts.flat().join(" "), source);

  it("has at least twelve words, most of them copied in runs of six", () => {
    expect([isFrom(words(10, 21)), isFrom(words(10, 22))]).to.deep.equal([false, true]);
    // 16 and 15 of 20 words are copied.
    expect(isFrom(words(50, 66), words(900, 904))).to.equal(true);
    expect(isFrom(words(50, 65), words(900, 905))).to.equal(false);
    expect(isFrom(words(184, 200), words(900, 904)), "at the end of the source").to.equal(true);
    expect(isFrom(words(50, 65), ["new"], words(66, 80))).to.equal(true);
    const everySixth = words(50, 80).map((word, at) => (at % 6 === 0 ? "new" : word));
    expect(isFrom(everySixth)).to.equal(false);
    expect(isExcerpt("", source)).to.equal(false);
    expect(isExcerpt(words(0, 20).join(" "), "")).to.equal(false);
  });

  it("is one piece of its source, and not sentences from many places", () => {
    expect(isFrom(words(0, 10), words(17, 27))).to.equal(true);
    expect(isFrom(words(0, 10), words(18, 28))).to.equal(false);
    expect(isFrom(words(100, 110), words(0, 10))).to.equal(false);
    expect(isFrom(words(12, 22), words(0, 10)), "in another order").to.equal(true);
    expect(isFrom(words(0, 100), words(190, 196)), "one run of many is from elsewhere").to.equal(true);
    expect(isFrom(words(190, 196), words(0, 100))).to.equal(true);
  });

  it("is compared with the first place where the source has a run", () => {
    const repeated = [...words(0, 200), ...words(0, 10)].join(" ");
    expect(isExcerpt(words(0, 20).join(" "), repeated)).to.equal(true);
  });

  it("is the same in other case, form and punctuation; in Chinese each character is a word", () => {
    expect(isExcerpt(words(0, 20).join(", ").toUpperCase(), source)).to.equal(true);
    expect(isExcerpt(words(0, 20).join(" ").replaceAll("w", "ｗ"), source)).to.equal(true);
    // In upper case both words are MASSE.
    const sizes = words(0, 20).map((word, at) => (at % 2 === 0 ? word : "Maße"));
    expect(isExcerpt(sizes.join(" "), sizes.join(" "))).to.equal(true);
    expect(isExcerpt(sizes.join(" "), sizes.join(" ").replaceAll("Maße", "Masse"))).to.equal(false);
    const chinese = "今天天气很好我们一起去公园散步然后回家吃饭";
    expect(isExcerpt(chinese.slice(2, 16), chinese)).to.equal(true);
    expect(isExcerpt([...chinese.slice(2, 16)].reverse().join(""), chinese)).to.equal(false);
  });
});

describe("the share of untranslated words", () => {
  const english = "while these workers repair several bridges across every mountain valley";
  const half = "mentre these workers riparano several bridges attraverso ogni montagna valle";

  it("counts words of at least four letters in lower case that the source has", () => {
    expect(untranslatedShare(english, english, "en", "it")).to.equal(1);
    expect(untranslatedShare(half, english, "en", "it")).to.be.closeTo(0.4, 1e-9);
    const names = "Workers THESE //these.workers/bridges these@workers.it repair4 the ";
    expect(untranslatedShare(names + half, english, "en", "it")).to.be.closeTo(0.4, 1e-9);
  });

  it("is zero for short texts, in the same language, and between languages that share many words", () => {
    const short = english.split(" ").slice(0, 7).join(" ");
    expect(untranslatedShare(short, english, "en", "it")).to.equal(0);
    expect(untranslatedShare(`${short} across`, english, "en", "it")).to.equal(1);
    for (const [from, to] of [
      ["en", "en"],
      ["da", "sv"],
      ["es", "ro"],
      ["ru", "bg"],
      ["de", "nl"],
      ["ja", "zh"],
    ] as const)
      expect(untranslatedShare(english, english, from, to), `${from} ${to}`).to.equal(0);
    for (const [from, to] of [
      ["da", "de"],
      ["en", "de"],
      ["it", "en"],
    ] as const)
      expect(untranslatedShare(english, english, from, to), `${from} ${to}`).to.equal(1);
  });
});

describe("a translation without the names of its source", () => {
  it("has no words of the source with a capital letter or a digit, but keeps a text of only names", () => {
    const said = "Das neue iPhone von Apple hat einen A17";
    expect(withoutNames("Новый iPhone от Apple имеет A17 Bionic", said).replace(/\s+/g, " ")).to.equal(
      "Новый от имеет Bionic",
    );
    expect(withoutNames("neue Wörter", said)).to.equal("neue Wörter");
    expect(withoutNames("слово Apple слово", "Apple and and")).to.equal("слово   слово");
    expect(withoutNames("Apple A17", said), "nothing else is left").to.equal("Apple A17");
  });

  it("keeps words without a capital letter or a digit", () => {
    const text = "слово word ещё несколько";
    expect(withoutNames(text, "A word of several others")).to.equal(text);
  });

  it("has at least half as many new letters as the source has besides names, and a tenth must be besides names", () => {
    for (const [text, source] of [
      ["Windows Server LICENSE", "Windows Server License"],
      ["2024", "2024 7"],
      ["Windows Server лицензия", "Windows Server"],
      ["Windows Serverabcdef и", "Windows Serverabcdef a"],
    ] as const)
      expect(withoutNames(text, source), text).to.equal(text);
    expect(withoutNames("Windows Serverabcde и", "Windows Serverabcde ab").trim()).to.equal("и");
  });

  it("is the whole translation unless it has new letters for the rest of the source, also for a title", () => {
    const title = "Windows Server License";
    expect(withoutNames("Лицензия Windows Server", title).trim()).to.equal("Лицензия");
    for (const kept of ["Windows Server и", "Windows Server", "Windows Server License"])
      expect(withoutNames(kept, title), kept).to.equal(kept);
    const long = "The Great Wall Of China Explained";
    expect(withoutNames("Great Wall 中国", long), "three words are missing").to.equal("Great Wall 中国");
  });
});

describe("a text that keeps the content of another", () => {
  const said = (name: keyof typeof keepsContent, input: string, output: string) =>
    keepsContent[name].test({ input: { text: input }, output: { text: output } } as never);

  it("has its numbers and links, and ends as completely", () => {
    expect(said("keeps_numbers", "We sold 1,200 cars.", "1200 cars were sold.")).to.equal(undefined);
    expect(said("keeps_numbers", "We sold 1,200 cars.", "Cars were sold.")).to.equal(
      "has lost the number 1,200",
    );
    const link = "https://a.example/x";
    expect(said("keeps_links", `See ${link}.`, `Look at ${link}`)).to.equal(undefined);
    expect(said("keeps_links", `See ${link}.`, `Look at [x](${link}y)`)).to.equal(undefined);
    expect(said("keeps_links", `See ${link}.`, "Look at it.")).to.equal(`has lost ${link}`);
    expect(said("is_complete", "It is done.", "Done it is.")).to.equal(undefined);
    expect(said("is_complete", "It is done.", "Done it")).to.equal("stops within a sentence");
    expect(said("is_complete", "It is", "Done it")).to.equal(undefined);
  });

  it("is searched for at most fifty links that are written in another way", () => {
    const link = (n: number) => `https://a.example/${n}`;
    const links = (count: number) => Array.from({ length: count }, (_, n) => link(n));
    const glued = (count: number) => `${links(count).join("|")}|`;
    expect(said("keeps_links", links(50).join(" "), glued(50))).to.equal(undefined);
    expect(said("keeps_links", links(51).join(" "), glued(51))).to.equal(`has lost ${link(50)}`);
    expect(said("keeps_links", [...links(50), ...links(50)].join(" "), glued(50))).to.equal(undefined);
    expect(said("keeps_links", links(60).join(" "), links(60).join(" "))).to.equal(undefined);
  });
});
