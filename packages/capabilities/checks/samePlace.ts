import { normalizedForm } from "./textMeasures.ts";

const STATES =
  "AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada,NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming";
const COUNTRIES =
  "US United States,US USA,US United States of America,US U.S.,GB United Kingdom,GB UK,GB England,GB Scotland,GB Wales,FR France,DE Germany,IT Italy,ES Spain,PT Portugal,NL Netherlands,BE Belgium,CH Switzerland,AT Austria,NO Norway,SE Sweden,DK Denmark,FI Finland,IS Iceland,IE Ireland,PL Poland,CZ Czechia,GR Greece,TR Turkey,RU Russia,UA Ukraine,CA Canada,MX Mexico,BR Brazil,AR Argentina,CL Chile,CO Colombia,PE Peru,AU Australia,NZ New Zealand,JP Japan,CN China,KR South Korea,IN India,ID Indonesia,TH Thailand,VN Vietnam,SG Singapore,IL Israel,EG Egypt,ZA South Africa,KE Kenya,NG Nigeria,MA Morocco,SA Saudi Arabia,GE Georgia,CU Cuba,PK Pakistan,BD Bangladesh,LK Sri Lanka,NP Nepal,MY Malaysia,PH Philippines,CR Costa Rica,PA Panama,JM Jamaica,DO Dominican Republic,GT Guatemala,HN Honduras,NI Nicaragua,SV El Salvador,EC Ecuador,BO Bolivia,PY Paraguay,UY Uruguay,VE Venezuela,GY Guyana,LB Lebanon,LY Libya,SY Syria,JO Jordan,IQ Iraq,IR Iran,AE United Arab Emirates,HU Hungary,RO Romania,BG Bulgaria,RS Serbia,HR Croatia,SK Slovakia,SI Slovenia,LT Lithuania,LV Latvia,EE Estonia,CY Cyprus,MT Malta,DZ Algeria,TN Tunisia,GH Ghana,ET Ethiopia,TZ Tanzania,UG Uganda,ZM Zambia,ZW Zimbabwe,CM Cameroon,SN Senegal,AM Armenia,AZ Azerbaijan,KZ Kazakhstan,UZ Uzbekistan";
/** States and provinces of other countries, which people write as `Perth, WA` or `London, Ontario`. */
const PROVINCES =
  "AU NSW New South Wales,AU VIC Victoria,AU QLD Queensland,AU SA South Australia,AU WA Western Australia,AU TAS Tasmania,AU NT Northern Territory,CA ON Ontario,CA QC Quebec,CA BC British Columbia,CA AB Alberta,CA MB Manitoba,CA SK Saskatchewan,CA NS Nova Scotia,CA NB New Brunswick,CA NL Newfoundland and Labrador,CA PE Prince Edward Island";

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
for (const entry of PROVINCES.split(",")) {
  const [country, code, ...name] = entry.split(" ") as [string, string, ...string[]];
  learn(code, `${country}-${code}`);
  learn(name.join(" "), `${country}-${code}`);
}

/** Countries whose region codes are all known here. An unknown code is not a region of these countries. */
const COUNTRIES_WITH_CODES = new Set(["US", "AU", "CA"]);

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
const NAMES = new Map<string, string>(
  "cologne köln,munich münchen,nuremberg nürnberg,vienna wien,geneva geneve,prague praha,warsaw warszawa,krakow cracow,rome roma,milan milano,turin torino,venice venezia,florence firenze,naples napoli,genoa genova,lisbon lisboa,seville sevilla,copenhagen københavn,gothenburg göteborg,brussels bruxelles,brussels brussel,antwerp antwerpen,the hague den haag,athens athina,moscow moskva,bucharest bucuresti,belgrade beograd,zurich zuerich,dusseldorf duesseldorf,mexico city ciudad de mexico,new york new york city,beijing peking,mumbai bombay,kyiv kiev,new york nyc,bengaluru bangalore,kolkata calcutta,chennai madras,yangon rangoon,gurugram gurgaon,lviv lvov,odesa odessa,kharkiv kharkov,basel basle,porto oporto,cordoba cordova,london londres,london londra,paris parigi,rome rom,milan mailand,venice venedig,naples neapel,florence florenz,lisbon lissabon,lisbon lisbonne,copenhagen kopenhagen,warsaw warschau,warsaw varsovie,prague prag,moscow moskau,athens athen,geneva genf,geneva ginevra,lucerne luzern,bruges brugge,ghent gent,krakow krakau,gdansk danzig,munich monaco di baviera,macau macao,hanoi ha noi,haiphong hai phong,danang da nang"
    .split(",")
    .flatMap((pair) => {
      const english = /^(the hague|mexico city|new york|\S+) /.exec(pair)?.[1] as string;
      const other = pair.slice(english.length + 1);
      return [other, spelledOut(other)].map((spelling) => [plain(spelling), english] as const);
    }),
);

/** The letters and digits of a text: lower case, without accents, one space between words. */
export function plain(text: string): string {
  return normalizedForm(text, "NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[øłđßæœıþð]/g, (letter) => LETTERS[letter] as string)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/**
 * Words of names that have short forms: St. Louis, East St. Louis, Mt. Vernon, Ft. Worth. Within a name, MT may be
 * Montana.
 */
const SHORT_FORMS: { readonly [short: string]: string } = {
  st: "saint",
  ste: "sainte",
  mt: "mount",
  ft: "fort",
};
const LONG_FORMS = Object.fromEntries(Object.entries(SHORT_FORMS).map(([short, long]) => [long, short]));
const SHORT = /^(?:mt|ft)(?= )|(?<![^ ])ste?(?= )/g;
const LONG = /(?<![^ ])(?:sainte?|mount|fort)(?= )/g;

/** A plain name, with the long forms of its words, and with the short ones. */
export function formsOf(name: string): [own: string, long: string, short: string] {
  const long = name.replace(SHORT, (word) => SHORT_FORMS[word] as string);
  return [name, long, name.replace(LONG, (word) => LONG_FORMS[word] as string)];
}

/** A text as people write it without ä, ö, ü, ø and å: `Muenchen`, `Aarhus`. */
function spelledOut(text: string): string {
  const pairs: { [letter: string]: string } = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" };
  return normalizedForm(text, "NFC").replace(/[äöüøå]/gi, (letter) => pairs[letter.toLowerCase()] as string);
}

/**
 * The name of a place in one spelling: `München` and `Munich`, `St. Louis` and `Saint Louis`, `Xi'an` and `Xian` are the
 * same.
 */
export function placeName(text: string): string {
  const joined = text.replace(/(?<=\p{L})['’ʼ](?=\p{L})/gu, "");
  const [, whole] = formsOf(plain(joined));
  return NAMES.get(whole) ?? whole;
}

/**
 * Whether the place of the answer is the requested place. One name must contain the other name as a sequence of whole
 * words, or both must be names of one city. The states and countries must not contradict each other. A name without a
 * country fits any country. Names in different scripts, and coordinates, cannot be compared.
 */
export function isSamePlace(answered: string, asked: string): boolean {
  const [ownA, ...regionsA] = answered.split(",") as [string, ...string[]];
  const [ownB, ...regionsB] = asked.split(",") as [string, ...string[]];
  const [nameA, nameB] = [placeName(ownA), placeName(ownB)];
  if (nameA === "" || nameB === "") return false;
  // `Malmö` is also written Malmoe. But `Baar` and `Bar` are two places, because neither name has such a letter.
  const isSpelling = nameA === placeName(spelledOut(ownB)) || nameB === placeName(spelledOut(ownA));
  if (isSpelling || !areComparable(nameA, nameB)) return regionsAgree(regionsA, regionsB);
  if (isOtherPlace(nameA, nameB) || isOtherPlace(nameB, nameA)) return false;
  if (!` ${nameA} `.includes(` ${nameB} `) && !` ${nameB} `.includes(` ${nameA} `)) return false;
  // "Portland OR" is Portland in OR.
  const [restA, restB] = [nameA, nameB].map((name, at) => {
    const other = at === 0 ? nameB : nameA;
    return name.startsWith(`${other} `) ? [name.slice(other.length + 1)] : [];
  }) as [string[], string[]];
  return regionsAgree([...restA, ...regionsA], [...restB, ...regionsB]);
}

/**
 * Whether the longer name is another place: Oklahoma is not Oklahoma City, and York is not New York. New Delhi is in
 * Delhi.
 */
function isOtherPlace(longer: string, shorter: string): boolean {
  if (longer === `${shorter} city`) return isState(shorter);
  return longer === `new ${shorter}` && shorter !== "delhi";
}

/** Whether a name is that of a state of the United States. */
export function isState(name: string): boolean {
  return REGIONS.get(plain(name))?.some((region) => region.startsWith("US-")) ?? false;
}

/** Whether a name is also the name or the code of a state, a province or a country. */
export function isRegion(name: string): boolean {
  return REGIONS.has(plain(name));
}

/** Whether two names have letters of one script. A name that mixes scripts can be compared with both. */
function areComparable(answered: string, asked: string): boolean {
  const isLatin = (name: string): boolean => /\p{Script=Latin}/u.test(name);
  const isOther = (name: string): boolean => /(?!\p{Script=Latin})\p{L}/u.test(name);
  if (!isLatin(asked) && !isOther(asked)) return !/\p{L}/u.test(answered);
  return (isLatin(answered) && isLatin(asked)) || isOther(answered) === isOther(asked);
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
  // A postcode may follow: "OR 97201".
  const names = parts.map((part) => plain(part.replace(/\d[\d-]*/g, " "))).filter((name) => name !== "");
  const isCode = (name: string): boolean => name.length <= 3;
  // If the last name is not known here, a code before it belongs to that country: "Recife, PE, Brasil" is not in Peru.
  const isForeign =
    names.length > 1 && !isCode(names.at(-1) as string) && !REGIONS.has(names.at(-1) as string);
  const known = names.flatMap((name) => {
    const meanings = isForeign && isCode(name) ? undefined : REGIONS.get(name);
    return meanings === undefined ? [] : [{ meanings, isCode: isCode(name) }];
  });
  const whole = together(known.map(({ meanings }) => meanings));
  if (whole === undefined || whole.length > 0) return whole;
  // Other countries use the same codes for their own regions: MI is Milan in Italy, and TN is Tamil Nadu in India.
  const isLast = (at: number): boolean => at === known.length - 1;
  const certain = known.filter(({ isCode }, at) => !isCode || isLast(at)).map(({ meanings }) => meanings);
  return (together(certain) ?? []).filter((region) => !COUNTRIES_WITH_CODES.has(region.slice(0, 2)));
}

/** The smallest regions that several parts can mean together. */
function together(parts: string[][]): string[] | undefined {
  let regions: string[] | undefined;
  for (const meanings of parts) {
    regions = [
      ...new Set((regions ?? meanings).flatMap((one) => meanings.flatMap((it) => smaller(one, it)))),
    ];
  }
  return regions;
}

/** The region that is inside the other one, or none. */
function smaller(one: string, other: string): string[] {
  if (one === other || one.startsWith(`${other}-`)) return [one];
  return other.startsWith(`${one}-`) ? [other] : [];
}

/**
 * Words of a sentence that may be a region. A code has only capital letters: `it`, `no` and `or` are also the codes of
 * Italy, Norway and Oregon.
 */
export function mayBeRegion(words: string): boolean {
  return words.length > 3 || words === words.toUpperCase();
}
