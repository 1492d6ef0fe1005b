import { expect } from "chai";
import { bestLanguage, hasOwnScript, isInLanguage } from "tallystick-capabilities/checks/detectLanguage";
import { hasMarkup } from "tallystick-capabilities/checks/hasMarkup";
import { linksIn } from "tallystick-capabilities/checks/linksIn";
import { isPlainlyToxic, plainSentiment } from "tallystick-capabilities/checks/plainWords";
import {
  countWords,
  endsSentence,
  endsWithPoints,
  normalized,
  normalizedForm,
  sharedStems,
  stemsOf,
  textLength,
} from "tallystick-capabilities/checks/textMeasures";
import { isPublicPage, isWebAddress } from "tallystick-capabilities/checks/webAddress";

describe("markup in a text", () => {
  it("is an element with its end, in any case, but not an end alone", () => {
    for (const text of ["a <b> x </b>", "a <P> x </p>", "a <a-b> x </a-b>"])
      expect(hasMarkup(text), text).to.equal(true);
    for (const text of ["</b> x </b>", "<a> x </a-b>", "<1> x </1>", "a <b", "<b> x", "a <b> x <b> y", ""])
      expect(hasMarkup(text), text).to.equal(false);
  });

  it("is a tag that touches a word and begins the text, has an attribute, or is never part of a text", () => {
    for (const text of [
      ...["<b>bold", "  <b>bold", "<b>5", "<b>é", "</b>bold", "a <div class=a>word", "word<div class=a> a"],
      ...["word<script>", "a </script>word", "word<iframe src=x>"],
    ])
      expect(hasMarkup(text), text).to.equal(true);
    for (const text of [
      ...["<b>", "<b>.", "List<String>", "word<div>", "a </div>word", "a <div class>word", "word</script>"],
      ...["<template>: a", "where to put <script> in it"],
    ])
      expect(hasMarkup(text), text).to.equal(false);
  });

  it("is a tag with an attribute in front of the first word", () => {
    const long = (length: number) => `<b ${"n".repeat(length)}=1> word`;
    for (const text of ["<a href=x> word", " <a href=x>\n word", "<a rel href=x> word", long(40)])
      expect(hasMarkup(text), text).to.equal(true);
    for (const text of ["a <a href=x> word", '<a href=x> "word', "<b =1> word", "<b> word", long(41)])
      expect(hasMarkup(text), text).to.equal(false);
  });

  it("is a line break or a picture behind the beginning, or one with an attribute", () => {
    for (const text of ["a<br>b", "a <BR> b", "a <hr/>", "a <img>", "<br class=x> a"])
      expect(hasMarkup(text), text).to.equal(true);
    for (const text of ["<br> a", "<hr>", " <img> a"]) expect(hasMarkup(text), text).to.equal(false);
  });

  it("is not what a text about it may name", () => {
    const named = new Set(["b", "br"]);
    for (const text of ["a <b> x </B>", "<b>bold", "a<br>b"])
      expect(hasMarkup(text, named), text).to.equal(false);
    expect(hasMarkup("a <b> <i> x </i>", named)).to.equal(true);
  });
});

describe("links in a text", () => {
  it("begin with their scheme and end before punctuation, quotes, brackets and Asian characters", () => {
    for (const [text, links] of [
      ["xhttps://a.example", ["https://a.example"]],
      ["https://a.example/x:!?.;, b", ["https://a.example/x"]],
      ["(https://a.example/x)", ["https://a.example/x"]],
      ["“http://a.example”", ["http://a.example"]],
      ["https://a.example/見る", ["https://a.example/"]],
      ["https://a.exampleをご覧、http://b.example。", ["https://a.example", "http://b.example"]],
      ["https://a.example/@me", ["https://a.example/@me"]],
      ["https:/// http:// https:", []],
      ["", []],
    ] as const)
      expect(linksIn(text), text).to.deep.equal(links);
  });

  it("are also mail addresses, without the signs around them", () => {
    for (const [text, links] of [
      ["a.b+c-d_e@e.example", ["a.b+c-d_e@e.example"]],
      ["a@b.example@c.example", ["a@b.example", "b.example@c.example"]],
      ["éa@b.example", ["a@b.example"]],
      ["mailto:a@b.c.example/x", ["a@b.c.example"]],
      ["http://a b@c.example;e@f.example.", ["http://a", "b@c.example", "e@f.example"]],
      ["a@host.example", ["a@host.example"]],
      ["a@!b.example a@b. a@b @b.example a@ @ a@.example", []],
    ] as const)
      expect(linksIn(text), text).to.deep.equal(links);
  });
});

describe("the length and the form of a text", () => {
  it("count words with hyphens, points and apostrophes as one, and Asian characters as half", () => {
    for (const [text, count] of [
      ["", 0],
      ["a", 1],
      ["well-known don’t 3.5 e.g.", 4],
      ["a-", 1],
      ["漢", 1],
      ["漢字か", 2],
      ["ab 漢字 cd", 3],
      ["ab漢cd", 3],
    ] as const)
      expect(countWords(text), text).to.equal(count);
    for (const [text, length] of [
      ["한", 2],
      ["カ", 2],
      ["漢", 3],
      ["😀", 1],
      [" \u3000\t", 0],
    ] as const)
      expect(textLength(text), text).to.equal(length);
  });

  it("are compared without case, width, punctuation and more than 30 marks on a letter", () => {
    expect(normalized("  Ａ-b, ÉÉ…  c! ")).to.equal("a b éé c");
    expect(normalizedForm(`a${"\u0301".repeat(40)}b`, "NFKD")).to.equal(`a${"\u0301".repeat(30)}b`);
    expect(normalizedForm("ﬁ", "NFKC")).to.equal("fi");
    expect(normalizedForm("ﬁ", "NFC")).to.equal("ﬁ");
  });

  it("show their topic by the beginnings of words of five letters, and by pairs of Asian characters", () => {
    expect([...stemsOf("Translation of 漢字か engines, tiny Élégance")]).to.deep.equal([
      ...["trans", "漢字", "字か", "engin", "éléga"],
    ]);
    expect([...stemsOf("chair four")]).to.deep.equal(["chair"]);
    expect(sharedStems("garden chairs and tables", "Two chairs")).to.equal(1 / 3);
    expect(sharedStems("a tiny one", "another")).to.equal(1);
  });
});

describe("the end of a text", () => {
  it("is the end of a sentence behind a stop, an emoji or a link", () => {
    for (const text of [
      ...["Done.", "Done.)", "«Done.»", "Done.\u0301 ", "Bye 😊 🇮🇹", "points:", "はい」", "well;"],
      ...["See http://a.example/x", "See https://a.example/x?y=1 ", `https://${"a".repeat(4_087)}`],
    ])
      expect(endsSentence(text), text.slice(0, 30)).to.equal(true);
    for (const text of [
      ...["", "Done", "Done”", "a. b", "http", "see http://", "xhttps://a.example é", "https://a.example y"],
      ...[`https://${"a".repeat(4_090)}`],
    ])
      expect(endsSentence(text), text.slice(0, 30)).to.equal(false);
  });

  it("may be a point of a list without a stop, if another point has none", () => {
    for (const text of [
      "- a\n- b",
      "• a\n\n* b\n",
      "1. a\n  2) b",
      "- a\n- b\n  ",
      "- a\ntext.\n- b",
      "- a\n- b.",
    ])
      expect(endsWithPoints(text), text).to.equal(true);
    for (const text of ["- a.\n- b", "- a", "", "- a\ntext", "text\n- b", "-a\n-b", "1234. a\n1. b"])
      expect(endsWithPoints(text), text).to.equal(false);
  });
});

describe("the sentiment of a text", () => {
  it("is plain with two different words of one kind, which are not only terms", () => {
    for (const text of [
      "An excellent, wonderful stay",
      "EXCELLENT and wonderful rooms",
      "perfect wonderful stay here",
      "We have the excellent and wonderful stay here",
    ])
      expect(plainSentiment(text), text).to.equal("positive");
    for (const text of ["Terrible, awful rooms", "the worst, awful rooms"])
      expect(plainSentiment(text), text).to.equal("negative");
    for (const text of [
      ...["excellent excellent stay here", "perfect outstanding stay here", "an excellent stay here", ""],
      ...["excellent and wonderful, awful", "terrible awful, wonderful", "the worst broken garbage in it"],
      ...["It’s not excellent, not wonderful", "We didn’t have the excellent and wonderful stay here"],
      "We couldn’t have the excellent and wonderful stay here",
      ...["un soggiorno excellent wonderful molto bello davvero"],
    ])
      expect(plainSentiment(text), text).to.equal(undefined);
  });

  it("is toxic with a plain insult of the reader, in any sentence", () => {
    for (const text of [
      ...["You are an idiot", "You’re an idiot", "Nice. You are an idiot!", "you're trash", "fuck you"],
      ...["if you are an idiot stop; you are a moron", "A question?\nYou moron", "go kill yourself"],
    ])
      expect(isPlainlyToxic(text), text).to.equal(true);
    for (const text of [
      ...["I do not think you are an idiot", "I don’t think you are an idiot", "people call you an idiot"],
      ...["as though you are a moron", "He said you are an idiot", "you trash old files", "a plain text"],
      ...["“You are an idiot”", "You are an idiot's friend", "nobody thinks that you are an idiot"],
    ])
      expect(isPlainlyToxic(text), text).to.equal(false);
  });
});

describe("the language of a text", () => {
  it("is judged by its script alone up to 19 letters, or four characters of Chinese, Japanese and Korean", () => {
    for (const [text, language] of [
      ["the the the the the", "it"],
      ["漢字漢字", "zh"],
      ["Привет", "uk"],
      ["北京大学", "ja"],
      ["東京国際展示場東京国際展示", "zh"],
      ["ab жжж abc", "en"],
      ["ab жж", "en"],
      ["ab жж", "ru"],
      ["this is what they think", "it"],
      ["東京です", "zh"],
    ] as const)
      expect(isInLanguage(text, language, 1), text).to.equal(true);
    for (const [text, language] of [
      ["", "en"],
      ["12345 !?", "en"],
      ["漢字", "en"],
      ["Hello", "zh"],
      ["ab жжжж c", "en"],
      ["https://a.example/привет", "ru"],
      ["The meeting has moved to Thursday.", "it"],
      ["한국어 문장입니다", "ja"],
      ["this is what they thinks", "it"],
      ["東京ですね", "zh"],
      ["東京の図書館", "zh"],
    ] as const)
      expect(isInLanguage(text, language, 1), text).to.equal(false);
  });

  it("is judged without links, and also by the middle and the end of a long text", () => {
    const english = "The meeting of the council has moved to Thursday morning. ";
    const italian = "La riunione del consiglio è stata spostata a giovedì mattina. ";
    expect(isInLanguage(`Привет! https://a.example/${"abc/".repeat(20)}`, "ru", 1)).to.equal(true);
    expect(isInLanguage(`Привет! http://a.example/${"abc/".repeat(20)}`, "ru", 1)).to.equal(true);
    expect(isInLanguage(english.repeat(100), "en", 1)).to.equal(true);
    expect(isInLanguage(english.repeat(20) + italian.repeat(100), "en", 1)).to.equal(false);
    expect(isInLanguage(english.repeat(60) + italian.repeat(60), "it", 0.2)).to.equal(true);
  });

  it("may be Chinese or Japanese for a title of at most twelve Chinese characters", () => {
    const titles = ["北京大学图书馆", "東京都立中央図書館", "中華人民共和国国務院総理"];
    for (const text of titles)
      expect([isInLanguage(text, "zh", 1), isInLanguage(text, "ja", 1)], text).to.deep.equal([true, true]);
    const longer = "我们明天早上在图书馆见面讨";
    expect([isInLanguage(longer, "zh", 1), isInLanguage(longer, "ja", 1)]).to.deep.equal([true, false]);
  });

  it("is that of three pieces of a text of more than 4,000 characters", () => {
    const [latin, cyrillic] = ["several words ", "несколько слов "].map(
      (one) => (length: number) => one.repeat(length).slice(0, length),
    ) as [(length: number) => string, (length: number) => string];
    const isRussian = (text: string) => isInLanguage(text, "ru", 0);
    // The pieces begin at 0, at 6,000 and at 10,667, and each has 1,333 characters.
    const outside = [latin(1_333), cyrillic(4_667), latin(1_333), cyrillic(3_334), latin(1_333)].join("");
    expect([outside.length, isRussian(outside)]).to.deep.equal([12_000, false]);
    const middle = [latin(6_000), cyrillic(1_333), latin(3_334), cyrillic(900), latin(433)].join("");
    expect([middle.length, isRussian(middle)]).to.deep.equal([12_000, true]);
    const [whole, longer] = [cyrillic(2_100) + latin(1_900), cyrillic(2_100) + latin(1_901)];
    expect([isRussian(whole), isRussian(longer)]).to.deep.equal([true, false]);
  });

  it("may be one of two languages with the same sentences", () => {
    const text = "Han har en bil og et hus i byen.";
    expect([isInLanguage(text, "da", 1), isInLanguage(text, "no", 1)]).to.deep.equal([true, true]);
    expect(isInLanguage(text, "sv", 1)).to.equal(false);
    // Danish is nearly as likely for this Swedish text, but only Danish and Norwegian are so near.
    const swedish = "Han har en bil och ett hus";
    expect(["sv", "da"].map((language) => isInLanguage(swedish, language, 1))).to.deep.equal([true, false]);
    expect(isInLanguage(swedish, "da", 0.8)).to.equal(true);
  });

  it("is unknown for short and for mixed texts", () => {
    expect(bestLanguage("La riunione è stata spostata a giovedì.")).to.equal(undefined);
    expect(bestLanguage("La riunione è stata spostata a giovedì m.")).to.equal("it");
    expect(bestLanguage("Det är en fin dag i dag och solen skiner")).to.equal("sv");
    expect(bestLanguage("Det är en fin dag i dag och solen skine")).to.equal(undefined);
    expect(bestLanguage("Det er en fin dag i dag og solen skinner"), "or Danish").to.equal(undefined);
    const afrikaans = "Die weer is vandag baie mooi in die stad";
    expect(bestLanguage(afrikaans), "the nearest of the known languages").to.equal("nl");
    expect(bestLanguage("")).to.equal(undefined);
    expect(["ru", "zh", "en", "toString"].map(hasOwnScript)).to.deep.equal([true, true, false, false]);
  });
});

describe("the address of a page", () => {
  it("is a whole http or https address of at most 4,096 characters", () => {
    const long = (length: number) => `https://a.example/${"a".repeat(length - 18)}`;
    for (const text of ["https://a.example", "HTTP://a.example/x", long(4_096)])
      expect(isWebAddress(text), text.slice(0, 30)).to.equal(true);
    for (const text of [
      ...["https://", "xhttps://a.example", "https://a.example\\x", "https://a b", "https://[", long(4_097)],
      ...[7, null, undefined],
    ])
      expect(isWebAddress(text), String(text).slice(0, 30)).to.equal(false);
    for (const text of ["https://user@a.example/", "https://:pw@a.example/", "https://localhost/", "x"])
      expect(isPublicPage(text), text).to.equal(false);
  });
});
