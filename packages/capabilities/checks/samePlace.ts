const STATES =
  "AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada,NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming";
const COUNTRIES =
  "US United States,US USA,US United States of America,US U.S.,GB United Kingdom,GB UK,GB England,GB Scotland,GB Wales,FR France,DE Germany,IT Italy,ES Spain,PT Portugal,NL Netherlands,BE Belgium,CH Switzerland,AT Austria,NO Norway,SE Sweden,DK Denmark,FI Finland,IS Iceland,IE Ireland,PL Poland,CZ Czechia,GR Greece,TR Turkey,RU Russia,UA Ukraine,CA Canada,MX Mexico,BR Brazil,AR Argentina,CL Chile,CO Colombia,PE Peru,AU Australia,NZ New Zealand,JP Japan,CN China,KR South Korea,IN India,ID Indonesia,TH Thailand,VN Vietnam,SG Singapore,IL Israel,EG Egypt,ZA South Africa,KE Kenya,NG Nigeria,MA Morocco,SA Saudi Arabia,GE Georgia,CU Cuba";

/** The regions that a name or code may mean: `US-TX` for Texas. Some names mean several. */
const REGIONS = new Map<string, string[]>();
const learn = (name: string, region: string): void => {
  REGIONS.set(plain(name), [...(REGIONS.get(plain(name)) ?? []), region]);
};
for (const entry of STATES.split(",")) {
  learn(entry.slice(0, 2), `US-${entry.slice(0, 2)}`);
  learn(entry.slice(3), `US-${entry.slice(0, 2)}`);
}
for (const entry of COUNTRIES.split(",")) {
  learn(entry.slice(0, 2), entry.slice(0, 2));
  learn(entry.slice(3), entry.slice(0, 2));
}

/** Letters that Unicode does not decompose, with their plain spelling. */
const LETTERS: { [letter: string]: string } = {
  ø: "o",
  ł: "l",
  đ: "d",
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ı: "i",
  þ: "th",
  ð: "d",
};

/** Names of one city: the usual English name, and another one. */
const NAMES = new Map(
  "cologne koln,munich munchen,nuremberg nurnberg,vienna wien,geneva geneve,prague praha,warsaw warszawa,krakow cracow,rome roma,milan milano,turin torino,venice venezia,florence firenze,naples napoli,genoa genova,lisbon lisboa,seville sevilla,copenhagen kobenhavn,gothenburg goteborg,brussels bruxelles,brussels brussel,antwerp antwerpen,the hague den haag,athens athina,moscow moskva,bucharest bucuresti,belgrade beograd,zurich zuerich,dusseldorf duesseldorf,mexico city ciudad de mexico,new york new york city,beijing peking,mumbai bombay,kyiv kiev"
    .split(",")
    .map((pair) => {
      const english = /^(the hague|mexico city|new york|\S+) /.exec(pair)?.[1] as string;
      return [pair.slice(english.length + 1), english] as const;
    }),
);

/** The letters and digits of a text: lower case, without accents, one space between words. */
export function plain(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[øłđßæœıþð]/g, (letter) => LETTERS[letter] as string)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/**
 * Whether the place of the answer is the requested place. One name must contain the other name as a sequence of whole
 * words, or both must be names of one city. The states and countries must not contradict each other. A name without a
 * country fits any country.
 */
export function isSamePlace(answered: string, asked: string): boolean {
  const [a, b] = [answered.split(","), asked.split(",")];
  const [nameA, nameB] = [plain(a[0] ?? ""), plain(b[0] ?? "")];
  if (nameA === "" || nameB === "") return false;
  if ((NAMES.get(nameA) ?? nameA) === (NAMES.get(nameB) ?? nameB))
    return regionsAgree(a.slice(1), b.slice(1));
  if (!` ${nameA} `.includes(` ${nameB} `) && !` ${nameB} `.includes(` ${nameA} `)) return false;
  return regionsAgree(a.slice(1), b.slice(1));
}

/**
 * Whether the regions of two names can belong to one place. Unknown regions are ignored. `Oregon, US` and `Maine, US`
 * do not agree, although one region is the same. If the asked regions contradict each other, any answer agrees.
 */
export function regionsAgree(answered: string[], asked: string[]): boolean {
  const [a, b] = [narrowest(answered), narrowest(asked)];
  if (a === undefined || b === undefined || b.length === 0) return true;
  return a.some((one) => b.some((other) => smaller(one, other).length > 0));
}

/**
 * The smallest region that parts of a name can mean together. There can be several, because some codes have two
 * meanings: CA is California and Canada. Empty if the parts contradict each other, undefined if none is known.
 */
function narrowest(parts: string[]): string[] | undefined {
  let regions: string[] | undefined;
  // The largest region comes last, and says what the codes before it mean.
  for (const part of parts.toReversed()) {
    const name = plain(part);
    const meanings = REGIONS.get(name);
    if (meanings === undefined) continue;
    const known = regions ?? meanings;
    const inside = known.flatMap((one) => meanings.flatMap((it) => smaller(one, it)));
    // In `Perth, WA, Australia` and `Milano, MI, Italy` the code is a part of that country. Only the codes of the US
    // are all known here.
    const isCodeAbroad = inside.length === 0 && name.length === 2;
    regions = [...new Set(isCodeAbroad ? known.filter((one) => !one.startsWith("US")) : inside)];
  }
  return regions;
}

/** The region that is inside the other one, or none. */
function smaller(one: string, other: string): string[] {
  if (one === other || one.startsWith(`${other}-`)) return [one];
  return other.startsWith(`${one}-`) ? [other] : [];
}

/**
 * Whether a word of a sentence may be a region. A code must have capital letters: `it`, `no` and `or` are also the codes
 * of Italy, Norway and Oregon. A longer name may have small letters, so that nobody can hide it in this way.
 */
export function mayBeRegion(word: string): boolean {
  return plain(word).length > 2 || word === word.toUpperCase();
}
