/** Characters of an answer that cost a client one point. */
export const CHARACTERS_PER_POINT = 10_000;
