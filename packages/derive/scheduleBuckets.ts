/**
 * The schedule keeps what becomes due in buckets of this many seconds, so a tick visits each bucket about once. An index says
 * which buckets hold anything: months can pass between two ticks, and time can begin at zero.
 */
export const BUCKET_SECONDS = 300;
