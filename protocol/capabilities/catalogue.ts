import type { AnyCapability } from "./defineCapability.ts";
import { chartGenerateFromData } from "./standard/chartGenerateFromData.ts";
import { computeStatistics } from "./standard/computeStatistics.ts";
import { textTranslate } from "./standard/textTranslate.ts";

/** Every standard capability (SHP §5.2), in the order of lists. */
export const catalogue: readonly AnyCapability[] = [textTranslate, chartGenerateFromData, computeStatistics];
