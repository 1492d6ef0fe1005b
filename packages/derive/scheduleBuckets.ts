/**
 * The schedule keeps its items in buckets of this many seconds, so ticks visit each bucket about once. An index says
 * which buckets have items. So empty buckets cost nothing, even if months pass between two ticks.
 */
export const BUCKET_SECONDS = 300;
