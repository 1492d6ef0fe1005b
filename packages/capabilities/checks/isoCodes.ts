/** The currencies of ISO 4217 that are in use, and two that ended in 2025: ANG and BGN. */
export const CURRENCIES: ReadonlySet<string> = new Set(
  (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF " +
    "CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG " +
    "HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA " +
    "MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD " +
    "RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX " +
    "USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG"
  ).split(" "),
);

/** The currencies of each exchange, by the suffix of the ticker. Pence count as pounds. */
const EXCHANGE_CURRENCIES: { readonly [suffix: string]: readonly string[] } = {
  AS: ["EUR"],
  AX: ["AUD"],
  BR: ["EUR"],
  CO: ["DKK"],
  DE: ["EUR"],
  F: ["EUR"],
  HE: ["EUR"],
  HK: ["HKD"],
  KS: ["KRW"],
  L: ["GBP", "USD", "EUR"],
  LS: ["EUR"],
  MC: ["EUR"],
  MI: ["EUR"],
  NS: ["INR"],
  OL: ["NOK"],
  PA: ["EUR"],
  SA: ["BRL"],
  SS: ["CNY"],
  ST: ["SEK"],
  SW: ["CHF", "EUR", "USD", "GBP"],
  SZ: ["CNY"],
  T: ["JPY"],
  TO: ["CAD"],
  TW: ["TWD"],
  VI: ["EUR"],
  WA: ["PLN"],
};

/** Tickers of shares that an exchange may list in a second currency. */
const SECOND_CURRENCIES: [ticker: RegExp, currency: string][] = [
  [/^8\d{4}\.HK$/, "CNY"],
  [/^0?9\d{3}\.HK$/, "USD"],
  [/^9\d{5}\.SS$/, "USD"],
  [/^2\d{5}\.SZ$/, "HKD"],
  [/[.-]U\.TO$/, "USD"],
];

/** The largest companies of Switzerland. Funds are also listed there in other currencies, but these are not. */
const IN_FRANCS =
  /^(?:NESN|ROG|NOVN|UBSG|ZURN|ABBN|CFR|LONN|SIKA|GIVN|HOLN|SREN|SCMN|ALC|GEBN|KNIN|LOGN|PGHN|SLHN)\.SW$/;

/** The currencies in which a share may be listed, by its ticker; undefined if the exchange is unknown. */
export function currenciesOf(ticker: string): readonly string[] | undefined {
  const written = ticker.toUpperCase();
  if (IN_FRANCS.test(written)) return ["CHF"];
  const suffix = /\.([A-Z]{1,2})$/.exec(written)?.[1] ?? "";
  const usual = Object.hasOwn(EXCHANGE_CURRENCIES, suffix) ? EXCHANGE_CURRENCIES[suffix] : undefined;
  const others = SECOND_CURRENCIES.filter(([form]) => form.test(written)).map(([, currency]) => currency);
  return usual && [...usual, ...others];
}
