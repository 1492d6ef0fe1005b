import { expect } from "chai";
import { bestLanguage, isInLanguage } from "tallystick-capabilities/checks/detectLanguage";
import { hasMarkup } from "tallystick-capabilities/checks/hasMarkup";
import { linksIn } from "tallystick-capabilities/checks/linksIn";
import { missingNumber } from "tallystick-capabilities/checks/numbersInText";
import { isPlainlyToxic, plainSentiment } from "tallystick-capabilities/checks/plainWords";
import { mustPrint } from "tallystick-capabilities/checks/programOutput";
import {
  countWords,
  endsSentence,
  sharedStems,
  textLength,
} from "tallystick-capabilities/checks/textMeasures";
import { isPublicPage } from "tallystick-capabilities/checks/webAddress";

describe("measures of texts", () => {
  it("count words and lengths across scripts", () => {
    expect(countWords("It's a well-known fact.")).to.equal(4);
    expect(countWords("今日は良い天気")).to.equal(4);
    expect(textLength("a b\nc")).to.equal(3);
    expect(textLength("漢字かな")).to.equal(10);
  });

  it("find numbers in all notations", () => {
    const same = [
      ["1,240.50 euros", "1.240,50 Euro", "1 240,5 €", "1’240.50 Franken", "١٬٢٤٠٫٥"],
      ["1,234,567", "12,34,567", "1 234 567", "1.234.567", "1\u202f234\u202f567"],
      ["2,500,000", "2.5 million", "2,5 Millionen", "250万", "2,5 млн"],
      ["250 million", "2.5亿", "250.000.000", "250 millones"],
      ["3,000,000,000", "3 mil millones", "3 milliards", "30億"],
      ["125,000,000", "125 million", "1億2500万", "1억 2500만", "1亿2500万"],
      ["15,000", "1万5000", "15k", "15 tys.", "15 tuhatta"],
      [
        "2,500,000",
        "2,5 miljoonaa",
        "2,5 millió",
        "2.5 triệu",
        "25 लाख",
        "2,5 mln",
        "2.5M",
        "2,5 εκατομμύρια",
      ],
      ["2.30 pm", "14.30 Uhr", "14:30"],
      ["100", "hundert", "cien"],
      ["1000", "mille", "mil", "千"],
      ["in 1958", "في ١٩٥٨", "१९५८"],
      ["31.12.2026", "December 31, 2026", "2026-12-31", "2026年12月31日"],
      ["14.30", "14:30", "2:30 pm", "14h30"],
      ["3.11.7", "3.11.7"],
    ];
    for (const row of same) {
      for (const one of row)
        for (const other of row) expect(missingNumber(one, other), `${one}, ${other}`).to.equal(undefined);
    }
    const lost = [
      ["1,240.50", "1,240.51"],
      ["in 2026 300 people", "in 2026 people"],
      ["in 2026 300 people", "300 people"],
      ["2,500,000", "25 million"],
      ["2,500,000", "2.5 thousand"],
      ["5000", "mil"],
      ["125 million", "1億2600万"],
      ["2.30 pm", "15.30 Uhr"],
      ["$14.30", "$2.30"],
      ["1,000,000", "I'm here"],
      ["14.30", "14"],
      ["1990,1991,1992", "1990, 1991"],
    ] as const;
    for (const [one, other] of lost) expect(missingNumber(one, other), `${one}, ${other}`).to.be.a("string");
    expect(missingNumber("7 or 12", "")).to.equal(undefined);
  });

  it("find links without the punctuation after them", () => {
    expect(linksIn("See https://a.example/x?y=1. Or (mail me@b.example)!")).to.deep.equal([
      "https://a.example/x?y=1",
      "me@b.example",
    ]);
    expect(linksIn("詳細は https://a.example/x。次へ")).to.deep.equal(["https://a.example/x"]);
    expect(linksIn("https:// http: http:// a@ @b.example a@b c@d.e")).to.deep.equal(["c@d.e"]);
    const inner = "https://a.example/?to=http://";
    expect(linksIn(`${inner} x`)).to.deep.equal([inner]);
  });

  it("recognise the end of a sentence", () => {
    for (const text of [
      "Done.",
      "“Done.”",
      "終わり。",
      "هل انتهيت؟",
      "Wait…",
      "(Yes!)",
      "Bye! 😊",
      "See you 👍🏽",
      "סוף.\u200f",
    ])
      expect(endsSentence(text)).to.equal(true);
    for (const text of ["Done", "and the", "well,", `${"😀".repeat(50_000)}x`])
      expect(endsSentence(text)).to.equal(false);
    expect(hasMarkup(`<${"a".repeat(100_000)}`)).to.equal(false);
  });

  it("tell how many words of one text another text shares", () => {
    expect(sharedStems("translation engines", "An engine translates.")).to.equal(1);
    expect(sharedStems("garden chairs", "An engine translates.")).to.equal(0);
  });
});

describe("languages", () => {
  it("are recognised by their script in short texts, and by their words in longer ones", () => {
    expect(isInLanguage("Ciao", "it", 1)).to.equal(true);
    expect(isInLanguage("Привет", "it", 1)).to.equal(false);
    expect(isInLanguage("The meeting has moved to Thursday.", "it", 0.5)).to.equal(false);
    expect(isInLanguage("...", "en", 0.5)).to.equal(false);
    expect(bestLanguage("La riunione è stata spostata a giovedì mattina.")).to.equal("it");
    expect(bestLanguage("ok")).to.equal(undefined);
  });
});

describe("plain words", () => {
  it("give an answer only for clear texts", () => {
    expect(plainSentiment("An excellent, wonderful stay")).to.equal("positive");
    expect(plainSentiment("Not excellent, not wonderful")).to.equal(undefined);
    expect(plainSentiment("excellent but terrible")).to.equal(undefined);
    expect(isPlainlyToxic("You are an idiot")).to.equal(true);
    expect(isPlainlyToxic('He said "you are an idiot"')).to.equal(false);
    expect(isPlainlyToxic("That was an idiotic idea")).to.equal(false);
  });
});

describe("mustPrint", () => {
  it("gives only the lines that the code must print", () => {
    expect(mustPrint("print(\"a\")\nprint('b')", "python")).to.deep.equal(["a", "b"]);
    for (const code of [
      'if x:\n    print("a")',
      'import sys\nsys.exit()\nprint("a")',
      'def print(x): pass\nprint("a")',
      'x = """\nprint("a")\n"""',
      'print("{}")',
      'f(\nprint("a")\n)',
    ]) {
      expect(mustPrint(code, "python"), code).to.deep.equal([]);
    }
    expect(mustPrint('function f() {\nconsole.log("a");\n}\nconsole.log("b");', "javascript")).to.deep.equal([
      "b",
    ]);
    expect(mustPrint('print("a")', "cobol")).to.deep.equal([]);
  });
});

describe("isPublicPage", () => {
  it("refuses this machine, private networks and passwords", () => {
    for (const url of ["https://example.com/", "http://8.8.8.8/x", "http://[2606:4700::1111]/"])
      expect(isPublicPage(url), url).to.equal(true);
    for (const url of [
      "http://localhost/",
      "http://127.0.0.1",
      "http://10.1.1.1",
      "http://[::1]/",
      "http://169.254.169.254/latest",
      "http://172.16.0.1",
      "http://intranet/",
      "https://user:pw@example.com/",
      "ftp://example.com/",
      "file:///etc/passwd",
      "http://0x7f000001/",
      "http://localhost../",
      "http://[::ffff:127.0.0.1]/",
      "http://[::ffff:0:127.0.0.1]/",
      "http://[64:ff9b::a00:1]/",
      "http://100.64.0.1/",
      "http://192.0.2.1/",
      "http://metadata.google.internal./",
      "http://2130706433/",
      " https://example.com",
      "https://exa mple.com",
    ]) {
      expect(isPublicPage(url), url).to.equal(false);
    }
  });
});
