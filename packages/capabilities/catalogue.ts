import type { AnyCapability } from "./defineCapability.ts";
import { audioTranscribe } from "./standard/audioTranscribe.ts";
import { chartGenerateFromData } from "./standard/chartGenerateFromData.ts";
import { classifyTextSentiment, classifyTextToxicity } from "./standard/classifyText.ts";
import { codeExecute } from "./standard/codeExecute.ts";
import { codeReview } from "./standard/codeReview.ts";
import { computeMathNumeric } from "./standard/computeMathNumeric.ts";
import { computeStatistics } from "./standard/computeStatistics.ts";
import { dataExtractFromUrl } from "./standard/dataExtractFromUrl.ts";
import { dataLookupCryptoPrice, dataLookupStockPrice } from "./standard/dataLookupPrices.ts";
import {
  dataLookupWeatherGeojson,
  dataLookupWeatherJson,
  dataLookupWeatherText,
} from "./standard/dataLookupWeather.ts";
import { dataLookupWebSearch } from "./standard/dataLookupWebSearch.ts";
import { embedText } from "./standard/embedText.ts";
import { imageGenerateIllustrationPng } from "./standard/imageGenerateIllustrationPng.ts";
import { imageGenerateIllustrationSvg } from "./standard/imageGenerateIllustrationSvg.ts";
import { imageGeneratePhotorealistic } from "./standard/imageGeneratePhotorealistic.ts";
import { imageUpscale } from "./standard/imageUpscale.ts";
import { textRewrite } from "./standard/textRewrite.ts";
import { textSummarize } from "./standard/textSummarize.ts";
import { textTranslate } from "./standard/textTranslate.ts";

/** Every standard capability (SHP §5.2), in the order of lists. */
export const catalogue: readonly AnyCapability[] = [
  imageGeneratePhotorealistic,
  imageGenerateIllustrationPng,
  imageGenerateIllustrationSvg,
  imageUpscale,
  audioTranscribe,
  textTranslate,
  textSummarize,
  textRewrite,
  codeExecute,
  codeReview,
  dataExtractFromUrl,
  dataLookupWeatherJson,
  dataLookupWeatherGeojson,
  dataLookupWeatherText,
  dataLookupWebSearch,
  dataLookupCryptoPrice,
  dataLookupStockPrice,
  chartGenerateFromData,
  computeMathNumeric,
  computeStatistics,
  embedText,
  classifyTextSentiment,
  classifyTextToxicity,
];
