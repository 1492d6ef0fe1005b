import { TallystickError } from "tallystick-protocol/errors";
import type { AnyCapability } from "./defineCapability.ts";
import { type FamilyId, taxonomy } from "./taxonomy.ts";

/**
 * How to load the definition of each family. A bundler puts each into a separate file with the code of its
 * checks, so a page loads only the verifiers that it needs.
 */
const loaders = {
  "image.generate.photorealistic.png": async () =>
    (await import("./standard/imageGeneratePhotorealistic.ts")).imageGeneratePhotorealistic,
  "image.generate.illustration.png": async () =>
    (await import("./standard/imageGenerateIllustrationPng.ts")).imageGenerateIllustrationPng,
  "image.generate.illustration.svg": async () =>
    (await import("./standard/imageGenerateIllustrationSvg.ts")).imageGenerateIllustrationSvg,
  "image.upscale": async () => (await import("./standard/imageUpscale.ts")).imageUpscale,
  "audio.transcribe.json-with-timestamps": async () =>
    (await import("./standard/audioTranscribe.ts")).audioTranscribe,
  "text.translate": async () => (await import("./standard/textTranslate.ts")).textTranslate,
  "text.summarize": async () => (await import("./standard/textSummarize.ts")).textSummarize,
  "text.rewrite": async () => (await import("./standard/textRewrite.ts")).textRewrite,
  "code.execute.sandboxed": async () => (await import("./standard/codeExecute.ts")).codeExecute,
  "code.review": async () => (await import("./standard/codeReview.ts")).codeReview,
  "data.extract.from-url": async () => (await import("./standard/dataExtractFromUrl.ts")).dataExtractFromUrl,
  "data.lookup.weather.json": async () =>
    (await import("./standard/dataLookupWeather.ts")).dataLookupWeatherJson,
  "data.lookup.weather.geojson": async () =>
    (await import("./standard/dataLookupWeather.ts")).dataLookupWeatherGeojson,
  "data.lookup.weather.summary-text": async () =>
    (await import("./standard/dataLookupWeather.ts")).dataLookupWeatherText,
  "data.lookup.web-search": async () =>
    (await import("./standard/dataLookupWebSearch.ts")).dataLookupWebSearch,
  "data.lookup.crypto-price": async () =>
    (await import("./standard/dataLookupPrices.ts")).dataLookupCryptoPrice,
  "data.lookup.stock-price": async () =>
    (await import("./standard/dataLookupPrices.ts")).dataLookupStockPrice,
  "chart.generate.from-data": async () =>
    (await import("./standard/chartGenerateFromData.ts")).chartGenerateFromData,
  "compute.math.numeric": async () => (await import("./standard/computeMathNumeric.ts")).computeMathNumeric,
  "compute.statistics": async () => (await import("./standard/computeStatistics.ts")).computeStatistics,
  "embed.text": async () => (await import("./standard/embedText.ts")).embedText,
  "classify.text.sentiment": async () => (await import("./standard/classifyText.ts")).classifyTextSentiment,
  "classify.text.toxicity": async () => (await import("./standard/classifyText.ts")).classifyTextToxicity,
} as const satisfies { readonly [family in FamilyId]: () => Promise<AnyCapability> };

/** The type of each family's definition. */
export type Definitions = { [Id in FamilyId]: Awaited<ReturnType<(typeof loaders)[Id]>> };

/**
 * Loads the definition of a family, with everything that its checks need. After that, no verification waits
 * for a file.
 *
 * @throws TallystickError `capability_unavailable` when its file cannot be fetched; this says nothing about
 * any result
 */
export async function loadFamily(id: FamilyId): Promise<AnyCapability> {
  try {
    return await loaders[id]();
  } catch (cause) {
    throw new TallystickError({
      code: "capability_unavailable",
      message: `The definition of ${id} could not be loaded: ${cause instanceof Error ? cause.message : cause}`,
      hint: "Try again. If the page was published again since you opened it, reload it.",
      cause,
    });
  }
}

/** Every standard capability (SHP §5.2), in the order of lists. */
export async function loadCatalogue(): Promise<readonly AnyCapability[]> {
  return await Promise.all(taxonomy.map(({ id }) => loadFamily(id)));
}
