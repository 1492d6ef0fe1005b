import { ASKED_AT, classified, drawing, extract, type Honest, search, share } from "./honest.ts";

const DAY = 86_400;
const SQUARES = Array.from({ length: 20 }, (_, at) => (at + 1) ** 2);
const star = Array.from({ length: 20 }, (_, at) => `${50 + at},${at % 2 ? 20 : 70}`).join(" ");
const computed = (id: string, params: object, result: number): Honest => ({
  name: `${JSON.stringify(params)} is ${result}`,
  id,
  params,
  output: { result },
});
const maths = (expression: string, result: number): Honest =>
  computed("compute.math.numeric", { expression }, result);
const spoken = (name: string, language: string, segments: [number, number, string][]): Honest => ({
  name,
  id: "audio.transcribe.json-with-timestamps",
  params: { audio_url: "https://example.com/a.mp3" },
  output: { language, segments: segments.map(([start_ms, end_ms, text]) => ({ start_ms, end_ms, text })) },
});

/** Drawings, numbers, searches, pages, shares, recordings and labels. */
export const honestRest: Honest[] = [
  drawing(
    "of lines after a move",
    '<g fill="none" stroke="#000"><path d="M18 6 6 18"/><path d="m6 6 12 12"/><path d="M12 2 12 22"/></g>',
  ),
  drawing("of the one line that was asked", '<path fill="none" stroke="#000" d="M2 2 8 8 14 2 20 8"/>', {
    max_paths: 1,
  }),
  drawing(
    "a flag",
    '<rect width="90" height="60" fill="#fff"/><circle cx="45" cy="30" r="18" fill="#bc002d"/>',
    {
      max_paths: 2,
    },
  ),
  drawing("a star of one polygon", `<polygon points="${star}" fill="#fc0"/>`),
  maths("ln(1 + 1e-10)", 9.9999999995e-11),
  maths("(1 + 1e-9) ^ 1e9", 2.7182818270999),
  maths("0.1 + 0.2 - 0.3", 0),
  maths("sin(10000000000.1)", Math.sin(10_000_000_000.1) + 1e-7),
  maths("floor(2.3 * 100)", 230),
  maths("52! / (5! * 47!)", 2_598_960),
  computed("compute.statistics.mean", { data: [1.7e308, 1.7e308] }, 1.7e308),
  computed("compute.statistics.median", { data: [1.7e308, 1.7e308] }, 1.7e308),
  computed("compute.statistics.mean", { data: [1e12, 0.001, -1e12] }, 0.0009765625 / 3),
  computed("compute.statistics.median", { data: [1 / 3, 2 / 3, 1e12, -1e12] }, 0.5),
  computed("compute.statistics.median", { data: [-1e12, 1 / 3, 1e12] }, 0.3333333333),
  computed("compute.statistics.percentile-95", { data: [1, 2, 3, 1e12] }, 3 + 0.85 * (1e12 - 3)),
  // In the order of R's types 4 to 9; the nearest rank is the first of them here.
  ...[361, 380.5, 398.05, 362.95, 386.35, 384.8875].map((result) =>
    computed("compute.statistics.percentile-95", { data: SQUARES }, result),
  ),
  search("input type checkbox", ['<input type="checkbox"> - HTML | MDN', "HTML input checkbox"]),
  search("html br tag", ["HTML <br> Tag"]),
  search("difference between div and span", ["What is the difference between <div> and </div>?"]),
  search("use of AI", ["Applications of artificial intelligence"], "AI in industry"),
  search("buy a TV", ["Best TVs of 2026"], "Our favourite TV of the year"),
  search("อากาศกรุงเทพ", ["พยากรณ์อากาศกรุงเทพวันนี้"]),
  extract("https://shop.example/lamp", "https://shop.example/lamp", {
    h1: "Desk lamp",
    title: "Desk lamp",
    og_title: "Desk lamp",
  }),
  extract("https://shop.example/lamp", "https://shop.example/lamp", {
    title: "Desk lamp",
    "@id": "https://shop.example/lamp",
  }),
  extract("https://docs.example/script", "https://docs.example/script", { title: "The <script> element" }),
  share("AAPL", { timestamp: ASKED_AT - 5 * DAY }),
  share("1234.HK", { currency: "HKD", timestamp: ASKED_AT - 12 * DAY }),
  share("2222.SR", { currency: "SAR", price: 25, timestamp: ASKED_AT - 9 * DAY }),
  share("VNM.VN", { currency: "VND", price: 60_000, timestamp: ASKED_AT - 9 * DAY }),
  spoken("a recording in Hausa", "ha", [
    [0, 5000, "Barka da safiya, yau za mu yi magana a kan yanayi da noma"],
  ]),
  spoken("short words without a length", "en", [
    [0, 3000, "Good morning everybody and welcome to the show."],
    [3000, 3080, "Yes."],
    [3100, 6000, "Today we talk about the weather in Rome."],
    [6000, 6000, "Bye."],
  ]),
  classified("sentiment", "The garbage truck collects the garbage every Tuesday at seven in the morning.", {
    sentiment: "neutral",
  }),
  classified(
    "sentiment",
    "In the worst case the seal of the pump is broken and water runs into the cellar.",
    {
      sentiment: "neutral",
    },
  ),
  classified("toxicity", "I bought you The Complete Idiot's Guide to Wine for your birthday.", {
    toxic: false,
  }),
  classified("toxicity", "The staff in this hotel treats you like you are trash.", { toxic: false }),
  classified("toxicity", "Please listen to me. They think you are an idiot, and they are wrong.", {
    toxic: false,
  }),
  classified("toxicity", "It makes you feel as though you are a moron.", { toxic: false }),
  classified("toxicity", "How to react when people call you an idiot", { toxic: false }),
];
