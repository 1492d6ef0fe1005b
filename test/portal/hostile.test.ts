import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { csvOf } from "../../portal/design/csv.ts";
import { formatAmount, plainText, urlText, visibleJson } from "../../portal/design/format.ts";
import { shellWord } from "../../portal/design/shellWord.ts";
import { actWords, depositWords } from "../../portal/escrow/actWords.ts";
import { draftOfLink, EMPTY_DRAFT, hireOf } from "../../portal/escrow/draft.ts";
import type { EscrowTerms } from "../../portal/escrow/termsOf.ts";
import { atomicOf } from "../../portal/escrow/usdc.ts";
import { type FoundWallet, pretenders } from "../../portal/escrow/wallet/followWallets.ts";
import { listenTo } from "../../portal/escrow/wallet/listenTo.ts";
import type { Provider } from "../../portal/escrow/wallet/provider.ts";
import { feedItemOf } from "../../portal/market/feed.ts";
import { isBounded } from "../../portal/node/isBounded.ts";
import { faultOf, type Meta } from "../../portal/node/nodeState.ts";
import { nodeUrlOf } from "../../portal/node/nodeUrl.ts";

/** Work that grows with the square of this length would take minutes. */
const LONG = 1_000_000;
const address = (digit: string) => `0x${digit.repeat(40)}` as const;

/** What strangers, nodes and wallets may send to the portal. These tests need no browser. */
describe("what strangers send to the portal", () => {
  it("is shown as one visible line without hidden text, changes of direction or half characters", () => {
    expect(plainText("a\u202eb\u200bc\nd")).to.equal("a b c d");
    // Letters without a visible form, an empty Braille pattern, and texts with only marks of width zero.
    for (const unseen of ["\u3164\u115f", "\u2800 \u2800", "\u200b\u200d", " \n", "\u{e0041}"])
      expect(plainText(unseen), JSON.stringify(unseen)).to.equal("(blank)");
    expect(plainText("")).to.equal("");
    expect(plainText("ab😀", 3)).to.equal("ab…");
    expect(plainText("a\u0301\u0301\u0301\u0301\u0301\u0301")).to.equal("a\u0301\u0301\u0301\u0301");
    expect(plainText("x".repeat(LONG), 10)).to.equal("xxxxxxxxxx…");
  });

  it("is shown as it was signed, with every hidden character as an escape", () => {
    const body = { "pay\u202e": "1\u200b0", lines: "a\nb\u2800", tag: "\u{e0041}", plain: "é漢" };
    const text = visibleJson(body, 2);
    expect(text)
      .to.match(/^[\x20-\x7e\né漢]*$/)
      .and.contain('"pay\\u202e": "1\\u200b0"');
    expect(JSON.parse(text)).to.deep.equal(body);
  });

  it("is shown shortened if it is a very long amount", () => {
    expect(formatAmount("1234567.5")).to.equal("1,234,567.50");
    expect(formatAmount("9".repeat(LONG))).to.equal(`${"9".repeat(40)}…`);
    const data = { seller: address("a"), buyer: address("b"), id: "h", price_usdc: "9".repeat(60_000) };
    const item = feedItemOf({ type: "hire", position: "1", data });
    expect(item?.kind === "hire" && formatAmount(item.price)).to.have.length(41);
  });

  it("is shown as a URL in ASCII, so that no letter looks like another", () => {
    expect(urlText("https://аррӏе.com/pay")).to.equal("https://xn--80ak6aa92e.com/pay");
    expect(urlText("https://a.example/\u202etxt")).to.equal("https://a.example/%E2%80%AEtxt");
    for (const other of ["javascript:alert(1)", "no url", `https://a/${"/".repeat(5_000)}`])
      expect(urlText(other)).to.equal(other);
  });

  it("is never a formula in a spreadsheet, whichever character separates the cells", () => {
    const bad = ["=1+1", "\t=1", "＝1", "https://a/;=HYPERLINK(1)", "a\n@x", "a;+1", "-1+2"];
    const text = csvOf(bad.map((it) => [it, "b"]));
    for (const cell of text.split(/[;,\t\r\n]+/))
      expect(cell.replace(/^"/, ""), text).not.to.match(/^[=+\-@＝＋－＠]/);
    expect(csvOf([["-1.5", 2, null, 'a"b']])).to.equal('-1.5,2,,"a""b"\r\n');
  });

  it("is always one word in a command that the reader pastes into a terminal", () => {
    const { url } = nodeUrlOf(
      `https://portal.example/?node=${encodeURIComponent("https://n.example/;echo$IFS'owned'|sh;`id`$(id)&")}#/`,
    );
    expect(url).to.contain(";echo$IFS");
    for (const word of [url, "it's", "a b", "$(id)", "plain-word_1.0"])
      expect(execFileSync("/bin/sh", ["-c", `printf %s ${shellWord(word)}`]).toString()).to.equal(word);
  });

  it("can choose only a node with an HTTPS URL or on this machine, and a very long URL is read quickly", () => {
    const of = (node: string) => nodeUrlOf(`https://portal.example/p/?node=${encodeURIComponent(node)}`);
    expect(of("https://portal.example/p/")).to.deep.equal({
      url: "https://portal.example/p",
      isOther: false,
    });
    expect(of("https://portal.example/other").isOther).to.equal(true);
    expect(of("https://n.example/a/")).to.deep.equal({ url: "https://n.example/a", isOther: true });
    for (const here of ["http://localhost:42069", "http://127.0.0.1:8080"])
      expect(of(`${here}/`)).to.deep.equal({ url: here, isOther: true });
    for (const bad of [
      "javascript:alert(1)",
      "http://n.example",
      "http://localhost.n.example",
      "http://localhost@n.example",
      "data:,x",
      `https://n.example/${"/".repeat(LONG)}x`,
    ])
      expect(of(bad).isOther, bad.slice(0, 30)).to.equal(false);
  });

  it("is not accepted as a node's answer if its lists are too long or too deep", () => {
    expect(isBounded({ data: { nodes: Array(20_000).fill(1) } })).to.equal(true);
    expect(isBounded({ data: { nodes: Array(20_001).fill(1) } })).to.equal(false);
    expect(isBounded(JSON.parse("[".repeat(66) + "]".repeat(66)))).to.equal(false);
    expect(isBounded(JSON.parse("[".repeat(LONG) + "]".repeat(LONG)))).to.equal(false);
  });

  it("cannot break the line about the node's state that every page has", () => {
    const odd = { toString: 1, valueOf: 1 };
    for (const blocked of [odd, 7, "x", [], { from: odd, to: null, reason: odd }])
      for (const name of ["blockedAtSegment", "blockedAtTransfers"]) {
        const meta = { [name]: blocked } as unknown as Meta;
        expect(faultOf({ meta, asOf: null, at: 0 }, 1)?.text).to.contain("unknown");
      }
  });

  it("can fill in only the fields of a new escrow, and a mistyped account or amount is refused", () => {
    const { draft, isFilled } = draftOfLink(
      new URLSearchParams({ seller: address("a"), __proto__: "x", buyer: "y", amount: "1".repeat(500) }),
    );
    expect(isFilled).to.equal(true);
    expect(Object.keys(draft)).to.deep.equal(Object.keys(EMPTY_DRAFT));
    expect(draft.amount).to.have.length(100);
    const checksummed = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const issuesOf = (changed: Partial<typeof EMPTY_DRAFT>) =>
      hireOf(
        { ...EMPTY_DRAFT, seller: checksummed, amount: "5", ...changed },
        { buyer: address("b"), now: 1, number: `0x${"00".repeat(32)}` },
      ).issues ?? {};
    expect(issuesOf({})).to.deep.equal({});
    for (const same of [checksummed.toLowerCase(), checksummed.toUpperCase().replace("0X", "0x")])
      expect(issuesOf({ seller: same })).to.deep.equal({});
    expect(issuesOf({ seller: checksummed.replace("aA", "aa") })).to.have.key("seller");
    expect(issuesOf({ arbiter: checksummed.replace("53F", "53E") })).to.have.key("arbiter");
    for (const amount of [
      "0.0000001",
      "1e6",
      "1,000",
      "-0",
      "-1",
      "Infinity",
      "٣",
      "0x10",
      "1".repeat(40),
      "",
    ])
      expect(atomicOf(amount), amount).to.equal(null);
  });

  it("cannot hide another account behind the same first and last digits where the reader decides", () => {
    const [seller, twin] = [`0x111111${"a".repeat(30)}1111`, `0x111111${"b".repeat(30)}1111`] as const;
    const terms = (payee: string) =>
      ({
        id: "0x",
        deployment: { chainId: 1, escrow: address("e") },
        hire: {
          ...{ buyer: address("b"), seller, payee, amount: 5n, fee: 1n, feeRecipient: twin },
          ...{ hireId: "0x", deadline: 1n, arbiter: twin },
        },
      }) as unknown as EscrowTerms;
    const words = (payee: string) => actWords(terms(payee), { name: "release" }).join();
    expect(words(seller)).not.to.equal(words(twin));
    expect(words(twin)).to.contain(twin).and.not.contain("…");
    // The dialogue shows the accounts of a deposit below these sentences.
    expect(depositWords(terms(twin), "soon").join()).not.to.match(/0x|…/);
  });

  it("may come from a wallet without events, or from a wallet with the name of another wallet", () => {
    const broken = [{ on: 5, removeListener: 5 }, { on: () => expect.fail("broken") }, {}];
    for (const it of broken) listenTo(it as unknown as Provider, "chainChanged", () => {})();
    const wallet = (id: string, rdns: string) => ({ id, rdns, name: "A" }) as FoundWallet;
    const [one, two, three] = [wallet("1", "io.a"), wallet("2", "io.a"), wallet("3", "io.b")];
    expect(pretenders([one, two, three, wallet("4", ""), wallet("5", "")])).to.deep.equal([one, two]);
  });
});
