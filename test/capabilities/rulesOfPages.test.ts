import { expect } from "chai";
import { requireCapability } from "tallystick-capabilities/capabilityOf";
import { holdRules, type RuleCase } from "./support/holdRules.ts";

const rulesOf = async (id: string, input: object) => {
  const { capability, parts } = await requireCapability(id);
  return capability.inputRules(input as never, parts);
};

describe("the pages that a search found", () => {
  const id = "data.lookup.web-search";
  const page = (url: string, title = "A title", snippet = "") => ({ url, title, snippet });
  const found = (...urls: string[]) => ({ results: urls.map((url) => page(url)) });
  it("have public addresses, no more than asked, and each only once", async () => {
    await holdRules(id, "has_addresses", [
      [{}, found("https://a.example", "http://b.example"), undefined],
      [{}, found("https://a.example", "x y"), '"x y" is no address'],
      [{}, found("x".repeat(90)), `"${"x".repeat(80)}" is no address`],
    ]);
    await holdRules(id, "has_public_addresses", [
      [{}, found("https://a.example"), undefined],
      [{}, found("https://a.example", "https://localhost/"), "https://localhost/ is no public address"],
      [
        {},
        found(`https://localhost/${"x".repeat(90)}`),
        `https://localhost/${"x".repeat(62)} is no public address`,
      ],
    ]);
    await holdRules(id, "keeps_the_limit", [
      [{ limit: 2 }, found("a", "b"), undefined],
      [{ limit: 1 }, found("a", "b"), "has 2 results"],
      [{}, found(...Array(100).fill("a")), undefined],
      [{}, found(...Array(101).fill("a")), "has 101 results"],
    ]);
    await holdRules(id, "has_found_something", [
      [{}, found("a"), undefined],
      [{}, found(), "found nothing"],
    ]);
    await holdRules(id, "repeats_nothing", [
      [{}, found("https://a.example", "https://a.example/b", "https://a.example/b/c"), undefined],
      [{}, found("https://a.example/", "https://a.example#top"), "has the same page twice"],
      [{}, found("https://a.example/b/c", "https://a.example/bc"), undefined],
    ]);
  });

  it("have titles without markup, except what was asked about", async () => {
    const titled = (query: string, title: string, said?: string): RuleCase => [
      { query },
      { results: [page("https://a.example", title)] },
      said,
    ];
    const bare = "https://a.example has no title, or markup in it";
    await holdRules(id, "has_titles", [
      titled("x", "7 things"),
      titled("x", "…", bare),
      titled("x", "<b>bold</b>", bare),
      titled("the b element", "<b>bold</b>"),
      titled("the br element", "a<br>b"),
    ]);
  });

  it("have a word of the query, at least half of them", async () => {
    const about = (query: string, titles: string[], said?: string): RuleCase => [
      { query },
      { results: titles.map((title) => page("https://example.org/", title)) },
      said,
    ];
    const only = (n: number, of: number) => `only ${n} of ${of} results have a word of the query`;
    await holdRules(id, "is_about_the_query", [
      about("garden chairs", ["Chairs", "Something else"]),
      about("garden chairs", ["Chairs", "Something", "Other"], only(1, 3)),
      about("garden chairs", ["Something"], only(0, 1)),
      about("garden chairs", []),
      about("the of", ["Something"]),
      about("cats", ["Cat breeds"]),
      about("this", ["thi"]),
      about("cats", ["Undefined values"], only(0, 1)),
      about("2024", ["In 2024"]),
      about("2024", ["In 2023"], only(0, 1)),
      about("กขคง", ["จฉชกขคง"]),
      about("กขคง", ["จฉชซฌ"], only(0, 1)),
      about("AI", ["What AI is"]),
      about("AI", ["Something"], only(0, 1)),
      about("a", ["Something"]),
      about("서울 날씨", ["Something"], only(0, 1)),
      about("서울 날씨", ["부산 맛집"], only(0, 1)),
      about("서울 날씨", ["부산의 내일 날씨"]),
      about("서울 날씨", ["서울특별시"]),
      about("서울에서 축제", ["서울의 날씨"]),
      about("날씨", ["서울날씨"]),
      about("인공지능이", ["인공지능의 미래"]),
      about("비", ["Something"], only(0, 1)),
      about("비", ["비가 온다"]),
      about("비 눈", ["눈이 온다", "꿈"]),
      about("꿈", ["비가 온다"], only(0, 1)),
      about("서울에서", ["부산에서"], only(0, 1)),
      about("공부하는", ["여행하는", "공부했다", "운동합니다"], only(1, 3)),
      about("달립니다", ["춤춥니다"], only(0, 1)),
      about("이다희", ["이다희의 영화"]),
      about("부터", ["부터 시작"]),
      about("20시", ["20일", "30시"], only(0, 2)),
      about("2024년에", ["2024년"]),
      about("\u{20bb7}", ["Something"]),
      about("東京の天気", ["今日の天気"]),
      about("ประเทศไทย", ["เที่ยวประเทศลาว"]),
      about("ประเทศไทย", ["Something"], only(0, 1)),
    ]);
    await holdRules(id, "is_about_the_query", [
      [{ query: "garden" }, { results: [page("https://garden.example/", "x")] }, undefined],
      [{ query: "garden" }, { results: [page("https://a.example/", "x", "a garden")] }, undefined],
    ]);
  });
});

describe("fields of a page", () => {
  const id = "data.extract.from-url";
  const url = "https://a.example/page";
  it("are of the asked public page, at a time", async () => {
    expect(await rulesOf(id, { url })).to.deep.equal([]);
    expect(await rulesOf(id, { url: "https://localhost/" })).to.deep.equal([
      { field: "params.url", message: "must be the http or https address of a public page" },
    ]);
    await holdRules(id, "is_of_the_asked_page", [
      [{ url }, { url }, undefined],
      [{ url }, { url: "HTTPS://A.example/page" }, undefined],
      [{ url }, { url: `${url}/x` }, `is of ${url}/x`],
      [{ url }, { url: "no address" }, "is of no address"],
      // No rule of the input runs before a verification, so the asked address may be none.
      [{ url: "ftp://a.example/page" }, { url: "ftp://a.example/page" }, undefined],
      [{ url: "ftp://a.example/page" }, { url: "ftp://a.example/" }, "is of ftp://a.example/"],
      [{ url: "no address" }, { url: "no address" }, undefined],
      [{ url: "no address" }, { url }, `is of ${url}`],
    ]);
    const asked = { asked_at: 1_767_225_600 };
    await holdRules(id, "is_fresh", [
      [{}, { extracted_at: "2020-01-01" }, undefined],
      [asked, { extracted_at: "2025-12-31T00:00Z" }, undefined],
      [asked, { extracted_at: "2025-12-30T23:59Z" }, "is of 2025-12-30T23:59Z"],
      [asked, { extracted_at: "once" }, "is of once"],
    ]);
    await holdRules(id, "has_a_time", [
      [{}, { extracted_at: "2020-01-01" }, undefined],
      [{}, { extracted_at: "once" }, "has no ISO 8601 time of extraction"],
    ]);
  });

  const fields = (extracted: { [field: string]: unknown }, said?: string): RuleCase => [
    { url, fields: Object.keys(extracted) },
    { extracted },
    said,
  ];
  it("all are there, and follow the conventions of their names", async () => {
    await holdRules(id, "has_every_field", [
      [{ fields: ["a"] }, { extracted: { a: null } }, undefined],
      [{ fields: ["a", "b"] }, { extracted: { a: 1 } }, "has no b"],
      [{ fields: ["toString"] }, { extracted: {} }, "has no toString"],
    ]);
    const good: [field: string, value: unknown][] = [
      ...[null, undefined, "EUR"].map((value): [string, unknown] => ["price_currency", value]),
      ...([0, 5] as unknown[]).map((value): [string, unknown] => ["price_amount", value]),
      ...["in_stock", "out_of_stock", "unknown"].map((value): [string, unknown] => ["availability", value]),
      ...([
        ["page_url", "https://a.example"],
        ["description_short", "é".repeat(280)],
      ] as [string, unknown][]),
      ...([
        ["description_short", "😀".repeat(280)],
        ["made_at", "2020-01-01"],
      ] as [string, unknown][]),
      ...["x", 5, true, [], {}].map((value): [string, unknown] => ["name", value]),
    ];
    const bad: [field: string, value: unknown, complaint: string][] = [
      ...["eur", 5, "XYZ"].map((value): [string, unknown, string] => [
        ...(["price_currency", value, "is no ISO 4217 currency"] as [string, unknown, string]),
      ]),
      ...[-1, "5", Number.POSITIVE_INFINITY].map((value): [string, unknown, string] => [
        ...(["price_amount", value, "is no amount"] as [string, unknown, string]),
      ]),
      ["availability", "yes", "is not in_stock, out_of_stock or unknown"],
      ["page_url", "http://a.example", "is no https address"],
      ["page_url", "https://", "is no https address"],
      ["page_url", 5, "is no https address"],
      ["description_short", "é".repeat(281), "is longer than 280 characters"],
      ["description_short", 5, "is longer than 280 characters"],
      ["made_at", "once", "is no ISO 8601 time"],
      ["name", () => 1, "is no value"],
    ];
    await holdRules(id, "has_fields_of_their_kind", [
      ...good.map(([field, value]): RuleCase => fields({ [field]: value })),
      ...bad.map(
        ([field, value, complaint]): RuleCase => fields({ [field]: value }, `${field} ${complaint}`),
      ),
    ]);
  });

  it("have values of their own, without markup and placeholders", async () => {
    await holdRules(id, "has_found_something", [
      fields({ a: null, b: " x " }),
      fields({ a: null, b: undefined, c: " " }, "found nothing"),
      fields({ a: 0 }),
    ]);
    const dirty = (value: unknown) => fields({ a: value }, "a has markup or a placeholder in it");
    const lazy = (field: string, value: unknown) =>
      fields({ [field]: value }, `${field} has its own name, or the page's address, as its value`);
    await holdRules(id, "has_clean_values", [
      ...[
        "<b>x</b>",
        "a&amp;b",
        "a &#39; b",
        "{{x}}",
        "[object Object]",
        " N/A ",
        "na",
        "TBD",
        "???",
        "--",
      ].map(dirty),
      ...[
        "Lorem ipsum dolor",
        "unknown",
        " 404 Not Found ",
        "Error 404",
        "Just a moment...",
        ["x", "null"],
      ].map(dirty),
      dirty({ b: { c: "none" } }),
      ...["403 Forbidden", "Error 404 Not Found", "Page not found", "not found", "Access denied"].map(dirty),
      ...["Are you a robot?", "Are you human?", "Attention required! | Shop"].map(dirty),
      fields({ availability: "n/a" }, "availability has markup or a placeholder in it"),
      ...["405 not found", "Error 405", "x not found", "not found x", "Error 404 x"].map((value) =>
        fields({ a: value }),
      ),
      fields({ availability: "unknown" }),
      fields({ b: { availability: "unknown" } }, "b has markup or a placeholder in it"),
      ...["a & b", "nab", "note: none", "Error 404 in b", 5, null, "- x", { b: "fine" }].map((value) =>
        fields({ a: value }),
      ),
      ...[lazy("page_title", " Page Title "), lazy("page_title", "page_title"), lazy("title", url)],
      ...[
        fields({ page_url: url }),
        fields({ id: url }),
        fields({ uri: url }),
        lazy("title", ` ${url} `),
        lazy("grid", url),
        lazy("idea", url),
        fields({ title: `${url}/x` }),
      ],
    ]);
    await holdRules(id, "has_clean_values", [
      [{ url: "no address", fields: ["a"] }, { extracted: { a: url } }, undefined],
    ]);
    await holdRules(id, "has_distinct_values", [
      fields({ a: "x", b: "x", c: "x" }, "has the same value in every field"),
      fields({ a: "x", b: "x", c: 5 }),
      fields({ a: "x", b: "x", c: "y" }),
      fields({ a: "x", b: "x" }),
      fields({ title: "x", headline: "x", h1: "x" }),
      fields({ a: "x", b: "x", c: "x", d: 5 }, "has the same value in every field"),
      ...["h12", "xh1"].map((name) =>
        fields({ h1: "x", h2: "x", [name]: "x" }, "has the same value in every field"),
      ),
      fields({ title: "x", headline: "x", other: "x" }, "has the same value in every field"),
    ]);
  });
});
