import { type FamilyId, findFamily } from "tallystick-capabilities/taxonomy";

/** A PNG of one pixel. */
const GREY_PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

/** The smallest possible params of each family. The prober sends them when it asks a seller for its price. */
const EXAMPLES: { readonly [family in FamilyId]: { [key: string]: unknown } } = {
  "image.generate.photorealistic.png": { prompt: "a grey square", width: 64, height: 64 },
  "image.generate.illustration.png": { prompt: "a grey square", width: 64, height: 64 },
  "image.generate.illustration.svg": { prompt: "a grey square" },
  "image.upscale": { image_b64: GREY_PIXEL },
  "audio.transcribe.json-with-timestamps": { audio_url: "https://example.com/a.mp3" },
  "text.translate": { text: "one" },
  "text.summarize": { text: "one two three four five ".repeat(8) },
  "text.rewrite": { text: "one two three" },
  "code.execute.sandboxed": { code: "1" },
  "code.review": { code: "a = 1" },
  "data.extract.from-url": { url: "https://example.com/", fields: ["title"] },
  "data.lookup.weather.json": { location: "Rome" },
  "data.lookup.weather.geojson": { location: "Rome" },
  "data.lookup.weather.summary-text": { location: "Rome" },
  "data.lookup.web-search": { query: "rome" },
  "data.lookup.crypto-price": { symbol: "ETH" },
  "data.lookup.stock-price": { ticker: "ACME" },
  "chart.generate.from-data": { data: [{ x: 1, y: 1 }], chart_type: "bar", width: 64, height: 64 },
  "compute.math.numeric": { expression: "1+1" },
  "compute.statistics": { data: [1, 2] },
  "embed.text": { text: "one" },
  "classify.text.sentiment": { text: "one" },
  "classify.text.toxicity": { text: "one" },
};

/**
 * Params of a standard capability that every seller must accept; undefined for `custom.*`, whose sellers
 * publish their own schemas.
 */
export function exampleParams(capability: string): { [key: string]: unknown } | undefined {
  const family = findFamily(capability);
  return family === undefined ? undefined : EXAMPLES[family.family.id as FamilyId];
}
