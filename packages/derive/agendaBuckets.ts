/**
 * The agenda keeps what will be due in buckets of this many seconds, so a tick visits each bucket about once. An index says
 * which buckets hold anything: time may stand still for months between two ticks, or begin at zero.
 */
export const BUCKET_SECONDS = 300;
