/** Results that honest sellers in different countries may send. All of them must pass. */
export type Honest = { name: string; id: string; params: unknown; output: unknown };

export const translate = (pair: string, text: string, translation: string): Honest => ({
  name: `${pair}: ${text.slice(0, 40)}`,
  id: `text.translate.${pair}`,
  params: { text },
  output: { text: translation },
});
export const rewrite = (name: string, text: string, rewritten: string, style = "formal"): Honest => ({
  name,
  id: `text.rewrite.${style}`,
  params: { text },
  output: { text: rewritten },
});
export const summarize = (name: string, text: string, summary: string): Honest => ({
  name,
  id: "text.summarize.medium",
  params: { text },
  output: { summary },
});
export const ASKED_AT = 1_772_704_800; // 2026-03-05T10:00:00Z
export const weather = (
  asked: string,
  location: string,
  observed_at: string,
  conditions = "Clear sky",
): Honest => ({
  name: `${asked}, answered as ${location} at ${observed_at}`,
  id: "data.lookup.weather.json",
  params: { location: asked, asked_at: ASKED_AT },
  output: { location, observed_at, temperature_c: 9.5, conditions },
});
export const weatherText = (location: string, text: string): Honest => ({
  name: text,
  id: "data.lookup.weather.summary-text",
  params: { location },
  output: { text },
});
export const extract = (url: string, answered: string, extracted: { [field: string]: unknown }): Honest => ({
  name: `${answered}: ${Object.keys(extracted)}`,
  id: "data.extract.from-url",
  params: { url, fields: Object.keys(extracted), asked_at: ASKED_AT },
  output: { url: answered, extracted, confidence: 0.9, extracted_at: "2026-03-05T19:00:00,250+09:00" },
});
export const search = (query: string, titles: string[], snippet = ""): Honest => ({
  name: query,
  id: "data.lookup.web-search",
  params: { query },
  output: {
    results: titles.map((title, at) => ({ url: `https://example.com/${at}`, title, snippet })),
  },
});
type Run = { language?: string; stdin?: string; stderr?: string; exit_code?: number };
export const run = (
  name: string,
  code: string,
  stdout: string,
  { language = "python", stdin = "", ...answered }: Run = {},
): Honest => ({
  name,
  id: "code.execute.sandboxed",
  params: { code, language, stdin },
  output: { stdout, stderr: "", exit_code: 0, duration_ms: 80, truncated: false, ...answered },
});
export const review = (name: string, code: string, message: string): Honest => ({
  name,
  id: "code.review",
  params: { code },
  output: { findings: [{ severity: "high", line: 1, message }] },
});
export const share = (ticker: string, answered: object): Honest => ({
  name: `${ticker}: ${JSON.stringify(answered)}`,
  id: "data.lookup.stock-price",
  params: { ticker, asked_at: ASKED_AT },
  output: { ticker, price: 500, currency: "USD", timestamp: ASKED_AT - 60, ...answered },
});
export const classified = (kind: string, text: string, output: object): Honest => ({
  name: text,
  id: `classify.text.${kind}`,
  params: { text },
  output: { confidence: 0.9, ...output },
});
export const drawing = (
  name: string,
  inner: string,
  params: object = {},
  frame = 'viewBox="0 0 100 100"',
): Honest => ({
  name,
  id: "image.generate.illustration.svg",
  params: { prompt: "a sign", ...params },
  output: { svg: `<svg xmlns="http://www.w3.org/2000/svg" ${frame}>${inner}</svg>` },
});
