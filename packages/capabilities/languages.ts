/** Languages by ISO 639-1 that capability ids and outputs may name, and that the verifiers can distinguish. */
export const LANGUAGES = [
  ..."ar bg cs da de el en es fi fr he hi hu id it ja ko nl no pl pt ro ru sv tr uk vi zh".split(" "),
] as const;
