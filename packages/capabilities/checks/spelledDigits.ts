/** Words for 2 to 9 in the languages of the catalogue. A word may mean different digits in two languages. */
const WORDS: [digit: string, words: string][] = [
  [
    "2",
    "two zwei due dos deux dois duas twee två to kaksi dwa dwie dva dvě doi două két kettő iki dua hai два две дві δύο",
  ],
  ["3", "three drei tre tres trois três drie kolme trzy tři trei három üç tiga ba три τρεις τρία"],
  [
    "4",
    "four vier quattro cuatro quatre quatro fyra fire neljä cztery čtyři patru négy dört empat bốn четыре чотири четири τέσσερις τέσσερα",
  ],
  ["5", "five fünf cinque cinco cinq vijf fem viisi pięć pět cinci öt beş lima năm пять пет πέντε"],
  ["6", "six sechs sei seis zes sex seks kuusi sześć šest șase hat altı enam sáu шесть шість шест έξι"],
  [
    "7",
    "seven sieben sette siete sept sete zeven sju syv seitsemän siedem sedm șapte hét yedi tujuh bảy семь сім седем επτά",
  ],
  [
    "8",
    "eight acht otto ocho huit oito åtta åtte otte kahdeksan osiem osm opt nyolc sekiz delapan tám восемь вісім осем οκτώ",
  ],
  [
    "9",
    "nine neun nove nueve neuf negen nio ni yhdeksän dziewięć devět nouă kilenc dokuz sembilan chín девять девет εννέα",
  ],
];
const DIGITS = new Map(
  WORDS.flatMap(([digit, words]) => words.split(" ").map((word) => [word.normalize("NFC"), digit])),
);

/** The longest word of the table, in characters. */
const LONGEST = Math.max(...Array.from(DIGITS.keys(), (word) => word.length));

/** The shortest word of scale that is written together with a digit. Shorter ends belong to other words: `Tom`. */
const MIN_SCALE = 4;

/** The digit from 2 to 9 that a word in lower case says in one of the languages. */
export function digitOf(word: string): string | undefined {
  return DIGITS.get(word);
}

/**
 * A word that may say a digit and a scale together, in its two parts: `dreihundert` and `trecento` are 3 hundreds. The
 * digit is empty if the word does not begin with one.
 */
export function splitCompound(word: string): [digit: string, rest: string] {
  for (let length = Math.min(LONGEST, word.length - MIN_SCALE); length >= 2; length--) {
    const digit = DIGITS.get(word.slice(0, length));
    if (digit !== undefined) return [digit, word.slice(length)];
  }
  return ["", word];
}
