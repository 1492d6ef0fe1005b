import type { SchemaType } from "./schemaType.ts";
import type { audioTranscribe } from "./standard/audioTranscribe.ts";
import type { chartGenerateFromData } from "./standard/chartGenerateFromData.ts";
import type { classifyTextSentiment, classifyTextToxicity } from "./standard/classifyText.ts";
import type { codeExecute } from "./standard/codeExecute.ts";
import type { codeReview } from "./standard/codeReview.ts";
import type { computeMathNumeric } from "./standard/computeMathNumeric.ts";
import type { computeStatistics } from "./standard/computeStatistics.ts";
import type { dataExtractFromUrl } from "./standard/dataExtractFromUrl.ts";
import type { dataLookupCryptoPrice, dataLookupStockPrice } from "./standard/dataLookupPrices.ts";
import type {
  dataLookupWeatherGeojson,
  dataLookupWeatherJson,
  dataLookupWeatherText,
} from "./standard/dataLookupWeather.ts";
import type { dataLookupWebSearch } from "./standard/dataLookupWebSearch.ts";
import type { embedText } from "./standard/embedText.ts";
import type { imageGenerateIllustrationPng } from "./standard/imageGenerateIllustrationPng.ts";
import type { imageGenerateIllustrationSvg } from "./standard/imageGenerateIllustrationSvg.ts";
import type { imageGeneratePhotorealistic } from "./standard/imageGeneratePhotorealistic.ts";
import type { imageUpscale } from "./standard/imageUpscale.ts";
import type { textRewrite } from "./standard/textRewrite.ts";
import type { textSummarize } from "./standard/textSummarize.ts";
import type { textTranslate } from "./standard/textTranslate.ts";

type TypesOf<Capability extends { input: unknown; output: unknown }> = {
  input: SchemaType<Capability["input"]>;
  output: SchemaType<Capability["output"]>;
};

/**
 * The types of every standard capability's `params` and result, by its id, taken from the schemas.
 *
 * @example const result: CapabilityTypes["text.translate.en.it"]["output"] = { text: "Buongiorno" };
 */
export interface CapabilityTypes {
  "image.generate.photorealistic.png": TypesOf<typeof imageGeneratePhotorealistic>;
  "image.generate.illustration.png": TypesOf<typeof imageGenerateIllustrationPng>;
  "image.generate.illustration.svg": TypesOf<typeof imageGenerateIllustrationSvg>;
  [id: `image.upscale.${string}`]: TypesOf<typeof imageUpscale>;
  [id: `audio.transcribe.${string}`]: TypesOf<typeof audioTranscribe>;
  [id: `text.translate.${string}`]: TypesOf<typeof textTranslate>;
  [id: `text.summarize.${string}`]: TypesOf<typeof textSummarize>;
  [id: `text.rewrite.${string}`]: TypesOf<typeof textRewrite>;
  "code.execute.sandboxed": TypesOf<typeof codeExecute>;
  "code.review": TypesOf<typeof codeReview>;
  [id: `code.review.${string}`]: TypesOf<typeof codeReview>;
  "data.extract.from-url": TypesOf<typeof dataExtractFromUrl>;
  "data.lookup.weather": TypesOf<typeof dataLookupWeatherJson>;
  "data.lookup.weather.json": TypesOf<typeof dataLookupWeatherJson>;
  "data.lookup.weather.geojson": TypesOf<typeof dataLookupWeatherGeojson>;
  "data.lookup.weather.summary-text": TypesOf<typeof dataLookupWeatherText>;
  "data.lookup.web-search": TypesOf<typeof dataLookupWebSearch>;
  "data.lookup.crypto-price": TypesOf<typeof dataLookupCryptoPrice>;
  "data.lookup.stock-price": TypesOf<typeof dataLookupStockPrice>;
  "chart.generate.from-data": TypesOf<typeof chartGenerateFromData>;
  "compute.math.numeric": TypesOf<typeof computeMathNumeric>;
  [id: `compute.statistics.${string}`]: TypesOf<typeof computeStatistics>;
  [id: `embed.text.${string}`]: TypesOf<typeof embedText>;
  "classify.text.sentiment": TypesOf<typeof classifyTextSentiment>;
  "classify.text.toxicity": TypesOf<typeof classifyTextToxicity>;
}

/** What `params` a capability takes; any object for `custom.*` and for ids known only at run time. */
export type CapabilityInput<Id extends string> = Id extends keyof CapabilityTypes
  ? CapabilityTypes[Id]["input"]
  : { [key: string]: unknown };

/** What a capability gives; unknown for `custom.*` and for ids known only at run time. */
export type CapabilityOutput<Id extends string> = Id extends keyof CapabilityTypes
  ? CapabilityTypes[Id]["output"]
  : unknown;
