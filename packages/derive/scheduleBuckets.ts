/**
 * The schedule keeps what becomes due in buckets of this many seconds, so a tick visits each bucket about
 * once. An index says which buckets hold anything. So empty buckets cost nothing, even if months pass between
 * two ticks.
 */
export const BUCKET_SECONDS = 300;
