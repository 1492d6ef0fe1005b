/** Currencies by ISO 4217 that are in use. */
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

/** The currencies of each exchange, by the suffix of the ticker. Some have shares in a second currency. Pence count as pounds. */
export const EXCHANGE_CURRENCIES: { readonly [suffix: string]: readonly string[] } = {
  AS: ["EUR"],
  AX: ["AUD"],
  BR: ["EUR"],
  CO: ["DKK"],
  DE: ["EUR"],
  F: ["EUR"],
  HE: ["EUR"],
  HK: ["HKD", "CNY", "USD"],
  KS: ["KRW"],
  L: ["GBP", "USD", "EUR"],
  LS: ["EUR"],
  MC: ["EUR"],
  MI: ["EUR"],
  NS: ["INR"],
  OL: ["NOK"],
  PA: ["EUR"],
  SA: ["BRL"],
  SS: ["CNY", "USD"],
  ST: ["SEK"],
  SW: ["CHF", "EUR", "USD", "GBP"],
  SZ: ["CNY", "HKD"],
  T: ["JPY"],
  TO: ["CAD", "USD"],
  TW: ["TWD"],
  VI: ["EUR"],
  WA: ["PLN"],
};
