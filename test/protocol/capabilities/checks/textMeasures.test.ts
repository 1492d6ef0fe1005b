import { expect } from "chai";
import { bestLanguage, isInLanguage } from "../../../../protocol/capabilities/checks/detectLanguage.ts";
import { linksIn } from "../../../../protocol/capabilities/checks/linksIn.ts";
import { isPlainlyToxic, plainSentiment } from "../../../../protocol/capabilities/checks/plainWords.ts";
import { mustPrint } from "../../../../protocol/capabilities/checks/programOutput.ts";
import {
  countWords,
  endsSentence,
  numbersIn,
  sharedStems,
  textLength,
} from "../../../../protocol/capabilities/checks/textMeasures.ts";
import { isPublicPage } from "../../../../protocol/capabilities/checks/webAddress.ts";

describe("measures of texts", () => {
  it("count words and lengths across scripts", () => {
    expect(countWords("It's a well-known fact.")).to.equal(4);
    expect(countWords("今日は良い天気")).to.equal(4);
    expect(textLength("a b\nc")).to.equal(3);
    expect(textLength("漢字かな")).to.equal(10);
  });

  it("find numbers in any way of writing them", () => {
    expect(numbersIn("1,240.50 euros")).to.deep.equal(numbersIn("1.240,50 Euro"));
    expect(numbersIn("في ١٩٥٨")).to.deep.equal(["1958"]);
    expect(numbersIn("५८०")).to.deep.equal(["580"]);
    expect(numbersIn("7 or 12")).to.deep.equal([]);
  });

  it("find links without the punctuation behind them", () => {
    expect(linksIn("See https://a.example/x?y=1. Or (mail me@b.example)!")).to.deep.equal([
      "https://a.example/x?y=1",
      "me@b.example",
    ]);
    expect(linksIn("詳細は https://a.example/x。次へ")).to.deep.equal(["https://a.example/x"]);
    expect(linksIn("https:// a@ @b.example a@b c@d.e")).to.deep.equal(["c@d.e"]);
  });

  it("know the end of a sentence", () => {
    for (const text of ["Done.", "“Done.”", "終わり。", "هل انتهيت؟", "Wait…", "(Yes!)"])
      expect(endsSentence(text)).to.equal(true);
    for (const text of ["Done", "and the", "well,"]) expect(endsSentence(text)).to.equal(false);
  });

  it("compare what two texts are about", () => {
    expect(sharedStems("translation engines", "An engine translates.")).to.equal(1);
    expect(sharedStems("garden chairs", "An engine translates.")).to.equal(0);
  });
});

describe("languages", () => {
  it("are told by their script in short texts, and by their words in longer ones", () => {
    expect(isInLanguage("Ciao", "it", 1)).to.equal(true);
    expect(isInLanguage("Привет", "it", 1)).to.equal(false);
    expect(isInLanguage("The meeting has moved to Thursday.", "it", 0.5)).to.equal(false);
    expect(isInLanguage("...", "en", 0.5)).to.equal(false);
    expect(bestLanguage("La riunione è stata spostata a giovedì mattina.")).to.equal("it");
    expect(bestLanguage("ok")).to.equal(undefined);
  });
});

describe("plain words", () => {
  it("speak only where there is no doubt", () => {
    expect(plainSentiment("An excellent, wonderful stay")).to.equal("positive");
    expect(plainSentiment("Not excellent, not wonderful")).to.equal(undefined);
    expect(plainSentiment("excellent but terrible")).to.equal(undefined);
    expect(isPlainlyToxic("You are an idiot")).to.equal(true);
    expect(isPlainlyToxic('He said "you are an idiot"')).to.equal(false);
    expect(isPlainlyToxic("That was an idiotic idea")).to.equal(false);
  });
});

describe("mustPrint", () => {
  it("says nothing where a statement may not run or not print", () => {
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
  it("refuses the own machine, private networks and passwords", () => {
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
