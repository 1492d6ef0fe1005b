import { z } from "zod";

/** The latest time of a date in JavaScript, in unix seconds. */
const LATEST = 8_640_000_000_000;

/** Unix seconds that can be shown as a date. */
export const dateSeconds = z.int().min(0).max(LATEST);
