import { type Fake, good, instead } from "./fake.ts";

const asked_at = 1_795_003_600;
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

const weather = (
  name: string,
  location: string,
  answered: object,
  verdict: Fake["verdict"] = "refused",
): Fake => ({
  name,
  id: "data.lookup.weather.json",
  params: { location, asked_at },
  output: {
    location,
    observed_at: iso(asked_at - 600),
    temperature_c: 7,
    conditions: "light rain",
    ...answered,
  },
  verdict,
});
const sentence = (
  name: string,
  location: string,
  text: string,
  verdict: Fake["verdict"] = "refused",
): Fake => ({
  name,
  id: "data.lookup.weather.summary-text",
  params: { location },
  output: { text },
  verdict,
});
const share = (
  name: string,
  ticker: string,
  answered: object,
  verdict: Fake["verdict"] = "refused",
): Fake => ({
  name,
  id: "data.lookup.stock-price",
  params: { ticker, asked_at },
  output: { ticker, price: 250, currency: "USD", timestamp: asked_at - 60, ...answered },
  verdict,
});
const coin = (
  name: string,
  symbol: string,
  answered: object,
  verdict: Fake["verdict"] = "refused",
): Fake => ({
  name,
  id: "data.lookup.crypto-price",
  params: { symbol, asked_at },
  output: { symbol, price: 90_000, vs: "usd", timestamp: asked_at - 60, ...answered },
  verdict,
});
const extract = (name: string, answered: object, verdict: Fake["verdict"] = "refused"): Fake => ({
  name,
  id: "data.extract.from-url",
  params: { url: "https://shop.example/lamp", fields: ["title", "price_amount", "price_currency"], asked_at },
  output: {
    url: "https://shop.example/lamp",
    extracted: { title: "Desk lamp", price_amount: 39.9, price_currency: "EUR" },
    confidence: 0.9,
    extracted_at: iso(asked_at),
    ...answered,
  },
  verdict,
});
const run = (
  name: string,
  code: string,
  stdout: string,
  {
    stdin,
    language = "python",
    ...answered
  }: { stdin?: string; language?: string; stderr?: string; exit_code?: number; truncated?: boolean } = {},
  verdict: Fake["verdict"] = "refused",
): Fake => ({
  name,
  id: "code.execute.sandboxed",
  params: { code, language, ...(stdin !== undefined && { stdin }) },
  output: { stdout, stderr: "", exit_code: 0, duration_ms: 80, truncated: false, ...answered },
  verdict,
});
const LOOP = 'for i in range(3):\n    print(i)\nprint("done")';
const mean = good("compute.statistics.mean");
const maths = good("compute.math.numeric");
const vector = good("embed.text.hashed-ngrams-128");
const dim = (vector.output as { dim: number }).dim;
const embed = (name: string, values: number[], verdict: Fake["verdict"] = "refused"): Fake => {
  const length = Math.hypot(...values) || 1;
  return instead(vector, name, { vector: values.map((value) => value / length) }, verdict);
};
const sentiment = good("classify.text.sentiment");
const toxicity = good("classify.text.toxicity");

export const dataFakes: Fake[] = [
  weather("O for Oslo", "Oslo", { location: "O" }),
  weather("Os for Oslo", "Oslo", { location: "Os" }),
  weather("Paris in France for Paris in Texas", "Paris, Texas", { location: "Paris, France" }),
  weather("Paris, TX for Paris in France", "Paris, France", { location: "Paris, TX" }),
  weather("Portland in Maine for Portland in Oregon", "Portland, OR, US", { location: "Portland, ME, US" }),
  weather("a place in two countries", "Paris, France", { location: "Paris, Texas, France" }),
  weather("Perth in Scotland for Perth in Australia", "Perth, WA, Australia", {
    location: "Perth, Scotland, UK",
  }),
  weather("a place in Texas and in Oregon", "Portland, Texas", { location: "Portland, OR, Texas, US" }),
  weather("Portland in Maine for Portland OR", "Portland OR", { location: "Portland, ME" }),
  weather("another postcode", "Portland, OR 97201", { location: "Portland, ME 04101" }),
  weather("Hyderabad in India for the one in Pakistan", "Hyderabad, Pakistan", {
    location: "Hyderabad, India",
  }),
  weather("London in England for London in Ontario", "London, Ontario", { location: "London, UK" }),
  weather("Paris in Texas with France after it", "Paris, TX", { location: "Paris, TX, France" }),
  weather("a place in another script", "Oslo", { location: "Токио" }, "passes"),
  weather("London in Canada for London", "London, UK", { location: "London, Ontario, Canada" }),
  sentence(
    "Kansas for Kansas City",
    "Kansas City, MO",
    "Today it is sunny in Kansas with a high of 20 °C and a light wind.",
  ),
  sentence(
    "Portland in Maine for Portland OR",
    "Portland OR",
    "Today it is sunny in Portland, Maine, with a high of 20 °C and a light wind.",
  ),
  weather("Kansas for Kansas City", "Kansas City, MO", { location: "Kansas, MO" }),
  weather("Oklahoma for Oklahoma City", "Oklahoma City", { location: "Oklahoma, US" }),
  weather("York for New York", "New York", { location: "York" }),
  weather("New York for York", "York", { location: "New York" }),
  weather("Mexico for New Mexico", "New Mexico", { location: "Mexico" }),
  weather("Bar for Baar", "Baar", { location: "Bar" }),
  weather("Santana for Santa Ana", "Santa Ana", { location: "Santana" }),
  weather("Vienna for Vienne", "Vienne", { location: "Vienna" }),
  weather("Portland in Maine, in a country without codes here", "Portland, OR, US", {
    location: "Portland, Maine, Estados Unidos",
  }),
  weather(
    "Portland in Maine, by its code and in a country that the checks do not know by this name",
    "Portland, OR",
    { location: "Portland, ME, Estados Unidos" },
    "passes",
  ),
  weather("a suburb of another town", "East London", { location: "London" }, "passes"),
  sentence("Portland in Maine, without a comma", "Portland, Oregon", "Portland Maine has 12 °C today."),
  sentence("Paris in France, without a comma", "Paris, Texas", "Paris France has 12 °C and rain today."),
  sentence("a state after its word", "Portland OR", "Portland in the state of Maine has 12 °C.", "passes"),
  share("always in dollars, in Hong Kong", "0700.HK", { price: 500 }),
  share("always in dollars, in Toronto", "SHOP.TO", { price: 100 }),
  share("always in dollars, in Zurich", "NESN.SW", { price: 95 }),
  share("always in dollars, in Shanghai", "600519.SS", { price: 500 }),
  {
    name: "pages that share only a stop word with the query",
    id: "data.lookup.web-search",
    params: { query: "what does this protein do" },
    output: {
      results: [
        { url: "https://example.com/1", title: "Why this song does it", snippet: "All about this singer." },
        { url: "https://example.com/2", title: "Buy this car", snippet: "It does not rust." },
      ],
    },
    verdict: "refused",
  },
  ...["Nothing Else Matters", "Good morning, sunshine", "The lost ring"].map(
    (title): Fake => ({
      name: `a page that shares only letters with the query: ${title}`,
      id: "data.lookup.web-search",
      params: { query: "cheap running shoes and hosting" },
      output: { results: [{ url: "https://example.com/1", title, snippet: "A song from 1991" }] },
      verdict: "refused",
    }),
  ),
  ...[
    '\n<h1 class="name">Desk lamp',
    '<h1 class="name"> Desk lamp',
    'Desk <span class="x">lamp',
    "<H1 CLASS=name>Desk lamp",
    '<p data_x1="1">Desk lamp',
    "<h1>Desk lamp",
    "Desk lamp <br> 40 W",
    '<img src="lamp.png">',
  ].map((title) =>
    extract(`${JSON.stringify(title)} as the title`, {
      extracted: { title, price_amount: 39.9, price_currency: "EUR" },
    }),
  ),
  extract("a tag with attributes before the title", {
    extracted: { title: '<h1 class="name">Desk lamp', price_amount: 39.9, price_currency: "EUR" },
  }),
  ...[
    "I can't believe it. You idiot, get lost!",
    "You pig!",
    "Shut up, you idiot. I will never come back.",
    "I hate people like you, you are scum.",
    "I think you are an idiot.",
  ].map(
    (text): Fake => ({
      name: `toxic as not toxic: ${text}`,
      id: "classify.text.toxicity",
      params: { text },
      output: { toxic: false, confidence: 0.9 },
      verdict: "refused",
    }),
  ),
  {
    name: "a finding that shares only the letters of e.g. with the code",
    id: "code.review",
    params: { code: "try { open(path); } catch (e) { log(e); }" },
    output: {
      findings: [{ severity: "low", line: 1, message: "There are problems here, e.g. weak style." }],
    },
    verdict: "refused",
  },
  weather("another town", "Rome", { location: "Romeoville" }),
  weather("of last year", "Oslo", { observed_at: iso(asked_at - 365 * 86_400) }),
  weather("of tomorrow", "Oslo", { observed_at: iso(asked_at + 86_400) }),
  weather("snow in the heat", "Oslo", { conditions: "heavy snow", temperature_c: 28 }),
  weather("as hot as an oven", "Oslo", { temperature_c: 180 }),
  weather("a humidity above 100 %", "Oslo", { humidity_percent: 140 }),
  weather("Oslo in letters of another alphabet", "Oslo", { location: "\u041esl\u043e" }),
  weather("an excuse as the conditions", "Oslo", { conditions: "I cannot look this up" }, "passes"),
  weather("an invented but possible temperature", "Oslo", { temperature_c: 11.3 }, "passes"),
  weather("a place without its country", "Paris, Texas", { location: "Paris" }, "passes"),
  sentence(
    "Paris in France for Paris in Texas",
    "Paris, Texas",
    "Paris, France has 12 °C and light rain today.",
  ),
  sentence(
    "Portland in Maine for Portland in Oregon",
    "Portland, Oregon, US",
    "Portland, ME has 12 °C and light rain today.",
  ),
  sentence(
    "Portland in Maine, in small letters",
    "Portland, Oregon, US",
    "Portland, maine has 12 °C and light rain today.",
  ),
  sentence(
    "Kansas City in Kansas for Kansas City in Missouri",
    "Kansas City, Missouri",
    "Kansas City, Kansas has 12 °C and light rain today.",
  ),
  sentence("a country in brackets", "Paris, Texas", "Weather for Paris (France): 12 °C and light rain."),
  sentence("as hot as an oven in no unit", "Oslo", "Oslo has 400 degrees and light rain today."),
  sentence("no place", "Oslo", "It is 12 °C with light rain today."),
  sentence("no temperature", "Oslo", "Oslo has fine weather with some clouds today."),
  sentence("a place inside of a word", "Oslo", "Losloville has 12 °C and light rain today."),
  sentence("degrees Fahrenheit as Celsius", "Oslo", "Oslo has 75 °C and light rain today."),
  sentence("an invented temperature", "Oslo", "Oslo has 12 °C and light rain today.", "passes"),
  share("a hundredth of its price", "AAPL", { price: 2.5 }),
  share("a hundred times its price", "AAPL", { price: 25_000 }),
  share("a price of almost zero", "ZZZZ", { price: 0.000001 }),
  share("a price of last month", "AAPL", { timestamp: asked_at - 30 * 86_400 }),
  share("a price of more than five days ago", "AAPL", { timestamp: asked_at - 5 * 86_400 - 1 }),
  share("a price of more than twelve days ago, in Hong Kong", "1234.HK", {
    ...{ currency: "HKD", timestamp: asked_at - 12 * 86_400 - 1 },
  }),
  share("in milliseconds", "AAPL", { timestamp: (asked_at - 60) * 1000 }),
  share("another share", "AAPL", { ticker: "MSFT" }),
  share("the currency of another exchange", "ENI.MI", { price: 14, currency: "USD" }),
  share("a billionth of a dollar", "AAPL", { price: 1e-9 }),
  share("a few percent wrong", "AAPL", { price: 231 }, "passes"),
  share("any price of an unknown share", "ZZZZ", { price: 12_345 }, "passes"),
  coin("a hundredth of its price", "BTC", { price: 900 }),
  coin("a dollar coin at two dollars", "USDC", { price: 2 }),
  coin("in another currency", "BTC", { vs: "eur" }),
  coin("a wrapped coin", "BTC", { symbol: "WBTC" }),
  coin("another dollar coin at half a dollar", "DAI", { price: 0.5 }),
  coin("another coin", "BTC", { symbol: "BCH" }),
  coin("of yesterday", "BTC", { timestamp: asked_at - 86_400 }),
  coin("a few percent wrong", "BTC", { price: 84_000 }, "passes"),
  extract("dated years ago", { extracted_at: "2021-05-01T00:00:00Z" }),
  extract("dated years in the future", { extracted_at: "2031-05-01T00:00:00Z" }),
  extract("only null values", { extracted: { title: null, price_amount: null, price_currency: null } }),
  extract("placeholders", { extracted: { title: "N/A", price_amount: 0, price_currency: "EUR" } }),
  extract("markup", { extracted: { title: "<b>Desk lamp</b>", price_amount: 39.9, price_currency: "EUR" } }),
  ...["title", "https://shop.example/lamp", "404 Not Found", "Just a moment...", "Access denied"].map(
    (title) =>
      extract(`${title} as the title`, { extracted: { title, price_amount: 39.9, price_currency: "EUR" } }),
  ),
  extract("a line break in a value", {
    extracted: { title: "Desk<br>lamp", price_amount: 39.9, price_currency: "EUR" },
  }),
  extract("a negative price", {
    extracted: { title: "Desk lamp", price_amount: -5, price_currency: "EUR" },
  }),
  extract("an unknown currency", {
    extracted: { title: "Desk lamp", price_amount: 39.9, price_currency: "ZZZ" },
  }),
  extract("a currency sign", { extracted: { title: "Desk lamp", price_amount: 39.9, price_currency: "€" } }),
  extract("another page", { url: "https://shop.example/" }),
  extract(
    "invented values",
    { extracted: { title: "Garden chair", price_amount: 5, price_currency: "USD" } },
    "passes",
  ),
  run("a made-up product", "n = int(input())\nprint(n * 7 + 1)\n", "84\n", { stdin: "12" }),
  run("the output for another input", 'name = input()\nprint("Hello", name)\n', "Hello Ada\n", {
    stdin: "Grace",
  }),
  run("an additional line", "a = 6\nb = a * 7\nprint(b)\n", "42\nIgnore this.\n"),
  run("a made-up sum in JavaScript", "const a = 20;\nconst b = 22;\nconsole.log(a + b);\n", "44\n", {
    language: "javascript",
  }),
  run("allegedly cut before its first line", 'print("done")\n', "", { truncated: true }),
  run("allegedly cut within a line", "a = 6\nprint(a * 7)\n", "4", { truncated: true }),
  run("filled up and allegedly cut", "a = 6\nprint(a * 7)\n", "9".repeat(2_000), { truncated: true }),
  run("allegedly killed", 'print("done")\n', "", { exit_code: 1, stderr: "Killed" }),
  run("allegedly not Python", 'print("a")\n', "", { exit_code: 1, stderr: "SyntaxError: invalid syntax" }),
  run("a wrong number within a text", 'n = 3\nprint(f"{n * 2} apples")\n', "7 apples\n", {}, "passes"),
  run("nothing printed", 'print("done")\n', ""),
  run("an output of code that prints nothing", "x = 1\n", "1\n"),
  run("a made-up loop", "for i in range(3):\n    print(i * i)\n", "0\n2\n5\n", {}, "passes"),
  run(
    "a failure of a program whose output cannot be computed",
    LOOP,
    "",
    { exit_code: 1, stderr: "x" },
    "passes",
  ),
  run("a program that was killed", LOOP, "", { exit_code: 137, stderr: "Killed" }, "passes"),
  run("killed without a word", LOOP, "", { exit_code: 137 }),
  ...[128, 160].map((exit_code) =>
    run(`ended with ${exit_code}, which no signal gives`, LOOP, "", { exit_code, stderr: "Killed" }),
  ),
  run(
    "without a line, after a function that returns",
    'function f() { return 1; }\nconsole.log("done");',
    "",
    { language: "javascript" },
  ),
  ...[
    ["factorial(20)/factorial(18)", 0],
    ["52!/(5!*47!)", 0],
    ["1e15/3e14", 9],
    ["6.674e-11*5.972e24/6371000^2", 0],
    ["floor(2.5*2)", 5.4],
  ].map(
    ([expression, result]): Fake => ({
      name: `${expression} is ${result}`,
      id: "compute.math.numeric",
      params: { expression },
      output: { result },
      verdict: "refused",
    }),
  ),
  ...[0, 1, 1e6].map(
    (result): Fake => ({
      name: `a variance of ${result} of twenty minutes in unix seconds`,
      id: "compute.statistics.variance",
      params: { data: Array.from({ length: 20 }, (_, at) => 1_772_704_800 + 60 * at) },
      output: { result },
      verdict: "refused",
    }),
  ),
  ...(
    [
      ["median", [1, 2, 3, 1e12], 900],
      ["median", [1e12, -1e12, 5], 0],
      ["mean", [1e12, -1e12, 30], 500],
      ["percentile-95", Array.from({ length: 100 }, (_, at) => (at === 99 ? 1e12 : at)), 900],
    ] as const
  ).map(
    ([operation, data, result]): Fake => ({
      name: `a ${operation} of ${result} beside a large number`,
      id: `compute.statistics.${operation}`,
      params: { data },
      output: { result },
      verdict: "refused",
    }),
  ),
  {
    name: "between two ways to interpolate",
    id: "compute.statistics.percentile-95",
    params: { data: Array.from({ length: 20 }, (_, at) => (at + 1) ** 2) },
    output: { result: 383 },
    verdict: "refused",
  },
  ...[0, 3_000].map(
    (result): Fake => ({
      name: `a variance of ${result} of a minute in unix seconds`,
      id: "compute.statistics.variance",
      params: { data: Array.from({ length: 60 }, (_, at) => 1_772_704_800 + at) },
      output: { result },
      verdict: "passes",
    }),
  ),
  instead(mean, "almost the mean", { result: 15.8 }),
  instead(mean, "wrong by a millionth", { result: (mean.output as { result: number }).result * (1 + 1e-6) }),
  instead(mean, "the median", { result: 15.9 }),
  instead(maths, "rounded in another way", { result: 3170.0 }),
  instead(maths, "for another rate", { result: 3150.12 }),
  embed("one direction", [1, ...Array.from({ length: dim - 1 }, () => 0)]),
  embed(
    "one number",
    Array.from({ length: dim }, () => 1),
  ),
  embed(
    "up and down",
    Array.from({ length: dim }, (_, at) => (at % 2 ? -1 : 1)),
  ),
  embed(
    "positive only",
    Array.from({ length: dim }, (_, at) => 1 + (at % 37)),
  ),
  embed(
    "half a vector",
    Array.from({ length: dim / 2 }, (_, at) => Math.sin(at * at + 1)),
  ),
  embed(
    "chance",
    Array.from({ length: dim }, (_, at) => Math.sin(at * at + 1)),
    "passes",
  ),
  instead(sentiment, "the opposite", { sentiment: "negative" }),
  instead(sentiment, "an answer with almost no confidence", { confidence: 0.1 }),
  instead(sentiment, "always neutral", { sentiment: "neutral" }),
  {
    name: "the opposite of what the text implies",
    id: "classify.text.sentiment",
    params: { text: "The train came, as it always does, an hour late." },
    output: { sentiment: "positive", confidence: 0.9 },
    verdict: "passes",
  },
  instead(toxicity, "a confidence below chance", { confidence: 0.2 }),
];
