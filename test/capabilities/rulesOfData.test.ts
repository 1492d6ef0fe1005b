import { holdRules, type RuleCase } from "./support/holdRules.ts";

const T = 1_800_000_000;

describe("the price of a coin", () => {
  const id = "data.lookup.crypto-price";
  it("is positive, has a time and is fresh", async () => {
    await holdRules(id, "is_positive", [
      [{}, { price: 1e-9 }, undefined],
      [{}, { price: 0 }, "is 0"],
      [{}, { price: -1 }, "is -1"],
      [{}, { price: Number.POSITIVE_INFINITY }, "is Infinity"],
    ]);
    await holdRules(id, "has_a_time", [
      [{}, { timestamp: T }, undefined],
      [{}, { timestamp: 5 }, "5 are no unix seconds"],
    ]);
    await holdRules(id, "is_fresh", [
      [{}, { timestamp: 5 }, undefined],
      [{ asked_at: T }, { timestamp: T - 3_600 }, undefined],
      [{ asked_at: T }, { timestamp: T - 3_601 }, "is 3601 seconds from when it was asked"],
      [{ asked_at: T }, { timestamp: T + 3_601 }, "is 3601 seconds from when it was asked"],
    ]);
  });

  it("is of the asked coin, in the asked currency or else in dollars", async () => {
    await holdRules(id, "is_of_the_asked_coin", [
      [{ symbol: "btc" }, { symbol: "BTC" }, undefined],
      [{ symbol: "BTC" }, { symbol: "btc" }, undefined],
      [{ symbol: "BTC" }, { symbol: "ETH" }, "is of ETH"],
      [{ symbol: "SOL" }, { symbol: "\u017fol" }, "is of \u017fol"],
    ]);
    await holdRules(id, "is_in_the_asked_currency", [
      [{}, { vs: "USD" }, undefined],
      [{ vs: "eur" }, { vs: "EUR" }, undefined],
      [{ vs: "EUR" }, { vs: "eur" }, undefined],
      [{}, { vs: "EUR" }, "is in EUR"],
      [{}, { vs: "u\u017fd" }, "is in u\u017fd"],
    ]);
  });

  it("is plausible: 1 for the same coin, and near 1 for a coin of one dollar in dollars", async () => {
    await holdRules(id, "is_plausible", [
      [{ symbol: "eth", vs: "ETH" }, { price: 1 }, undefined],
      [{ symbol: "ETH", vs: "eth" }, { price: 1.1 }, "is not 1 for the same coin"],
      ...["USD", "usdt", undefined].flatMap((vs): RuleCase[] => [
        [{ symbol: "usdc", vs }, { price: 0.8 }, undefined],
        [{ symbol: "USDC", vs }, { price: 1.2 }, undefined],
        [{ symbol: "USDC", vs }, { price: 0.79 }, "is 0.79 for a dollar coin"],
        [{ symbol: "DAI", vs }, { price: 1.21 }, "is 1.21 for a dollar coin"],
      ]),
      [{ symbol: "USDC", vs: "EUR" }, { price: 5 }, undefined],
      [{ symbol: "XYZ" }, { price: 5 }, undefined],
      [{ symbol: "btc" }, { price: 5 }, "5 is far from what it has ever cost"],
      [{ symbol: "BTC", vs: "gbp" }, { price: 5 }, "5 is far from what it has ever cost"],
    ]);
  });
});

describe("the price of a share", () => {
  const id = "data.lookup.stock-price";
  it("is of the asked share, in a currency of its exchange", async () => {
    await holdRules(id, "is_of_the_asked_share", [
      [{ ticker: "brk-b" }, { ticker: "BRK.B" }, undefined],
      [{ ticker: "BRK.B" }, { ticker: "brk-b" }, undefined],
      [{ ticker: "BRK.B" }, { ticker: "BRK.A" }, "is of BRK.A"],
      [{ ticker: "TSLA" }, { ticker: "T\u017fLA" }, "is of T\u017fLA"],
      [{ ticker: "ibm" }, { ticker: "\u0131bm" }, "is of \u0131bm"],
    ]);
    await holdRules(id, "has_a_currency", [
      [{}, { currency: "eur" }, undefined],
      [{}, { currency: "GBX" }, undefined],
      [{}, { currency: "ZAc" }, undefined],
      [{}, { currency: "XYZ" }, "XYZ is no currency"],
      [{}, { currency: "u\u017fd" }, "u\u017fd is no currency"],
      [{}, { currency: "toString" }, "toString is no currency"],
    ]);
    await holdRules(id, "is_in_the_currency_of_the_exchange", [
      [{ ticker: "VOD.L" }, { currency: "GBX" }, undefined],
      [{ ticker: "VOD.L" }, { currency: "GBp" }, undefined],
      [{ ticker: "VOD.L" }, { currency: "gbx" }, undefined],
      [{ ticker: "ENI.MI" }, { currency: "eur" }, undefined],
      [{ ticker: "AAPL" }, { currency: "JPY" }, undefined],
      [{ ticker: "ENI.MI" }, { currency: "usd" }, "is in usd, not EUR"],
      [{ ticker: "7203.T" }, { currency: "jpy" }, undefined],
      [{ ticker: "SHEL.L" }, { currency: "u\u017fd" }, "is in u\u017fd, not GBP or USD or EUR"],
      [{ ticker: "VOD.L" }, { currency: "JPY" }, "is in JPY, not GBP or USD or EUR"],
    ]);
    await holdRules(id, "is_plausible", [
      [{ ticker: "brk-b" }, { price: 490 }, undefined],
      [{ ticker: "brk-b" }, { price: 4.9 }, "4.9 is far from what it has ever cost"],
    ]);
  });

  it("is at most five days old, or twelve where an exchange may close for long", async () => {
    const day = 86_400;
    const old = (ticker: string, days: number): RuleCase => [
      { ticker, asked_at: T },
      { timestamp: T - days * day - 1 },
      `is older than ${days} days`,
    ];
    const fresh = (ticker: string, days: number): RuleCase => [
      { ticker, asked_at: T },
      { timestamp: T - days * day },
      undefined,
    ];
    const short = ["AAPL", "BRK.B", "ENI.MI", "X.ABCD", "SS"];
    const long = ["600000.SS", "000001.sz", "0700.HK", "2330.TWO", "7203.T", "X.VN", "x.sr", "1.SSX"];
    await holdRules(
      id,
      "is_fresh",
      [...short.map((one) => [one, 5] as const), ...long.map((one) => [one, 12] as const)].flatMap(
        ([ticker, days]) => [fresh(ticker, days), old(ticker, days)],
      ),
    );
  });
});

describe("the weather at a place", () => {
  const id = "data.lookup.weather.json";
  const reading = (more: object = {}) => ({ temperature_c: 10, conditions: "sunny", ...more });
  it("is possible on earth", async () => {
    await holdRules(id, "is_possible", [
      ...[-92, 58].map((temperature_c): RuleCase => [{}, { temperature_c }, undefined]),
      ...[-92.1, 58.1, Number.NaN].map(
        (temperature_c): RuleCase => [{}, { temperature_c }, `${temperature_c} °C is impossible`],
      ),
      ...[0, 100].map((humidity_percent): RuleCase => [{}, reading({ humidity_percent }), undefined]),
      ...[-0.1, 100.1, Number.NaN].map(
        (humidity_percent): RuleCase => [
          ...([{}, reading({ humidity_percent })] as const),
          `${humidity_percent} % humidity is impossible`,
        ],
      ),
      ...[0, 115].map((wind_speed_ms): RuleCase => [{}, reading({ wind_speed_ms }), undefined]),
      ...[-0.1, 115.1].map(
        (wind_speed_ms): RuleCase => [{}, reading({ wind_speed_ms }), `${wind_speed_ms} m/s is impossible`],
      ),
    ]);
  });

  it("has words for its conditions, which fit the temperature", async () => {
    await holdRules(id, "agrees_with_itself", [
      [{}, reading({ conditions: "snow", temperature_c: 12 }), undefined],
      [{}, reading({ conditions: "Light SNOW", temperature_c: 12.5 }), "snow at 12.5 °C"],
      [{}, reading({ conditions: "sleet", temperature_c: 13 }), "snow at 13 °C"],
      [{}, reading({ conditions: "no snow", temperature_c: 13 }), undefined],
      [{}, reading({ conditions: "hot", temperature_c: 15 }), undefined],
      [{}, reading({ conditions: "Scorching", temperature_c: 14 }), "heat at 14 °C"],
      [{}, reading({ conditions: "a shot of rain", temperature_c: 14 }), undefined],
      [{}, reading({ conditions: "雪" }), undefined],
      [{}, reading({ conditions: "5!" }), "has no words for the conditions"],
      [{}, reading({ conditions: "5!5!" }), "has no words for the conditions"],
      [{}, reading({ conditions: "ok" }), "has no words for the conditions"],
    ]);
  });

  it("is of the asked day, or else at most six hours old in its zone or in some zone", async () => {
    const at = (seconds: number, zone = "Z") =>
      `${new Date(seconds * 1_000).toISOString().slice(0, 19)}${zone}`;
    const [said, hours] = [(time: string) => `is of ${time}`, 3_600];
    const zoned = (seconds: number, isFresh: boolean): RuleCase => [
      { asked_at: T },
      { observed_at: at(T + seconds) },
      isFresh ? undefined : said(at(T + seconds)),
    ];
    const local = (seconds: number, isFresh: boolean): RuleCase => [
      { asked_at: T },
      { observed_at: at(T + seconds, "") },
      isFresh ? undefined : said(at(T + seconds, "")),
    ];
    await holdRules(id, "is_fresh", [
      ...[zoned(-6 * hours, true), zoned(-6 * hours - 1, false), zoned(6 * hours + 1, false)],
      ...[local(-18 * hours, true), local(-18 * hours - 1, false)],
      ...[local(20 * hours, true), local(20 * hours + 1, false)],
      [{}, { observed_at: "2020-01-01" }, undefined],
      [{ asked_at: T, date: "2020-01-01" }, { observed_at: "2020-01-01" }, undefined],
      [{ asked_at: T }, { observed_at: "once" }, "is of once"],
    ]);
    await holdRules(id, "is_of_the_asked_day", [
      [{}, { observed_at: "2020-01-01" }, undefined],
      [{ date: "2020-01-01" }, { observed_at: "2020-01-01T10:00" }, undefined],
      [{ date: "2020-01-02" }, { observed_at: "2020-01-01T10:00" }, "is of 2020-01-01T10:00"],
    ]);
    await holdRules(id, "has_a_time", [
      [{}, { observed_at: "2020-01-01" }, undefined],
      [{}, { observed_at: "today" }, "has no ISO 8601 time of observation"],
    ]);
    await holdRules(id, "is_of_the_asked_place", [
      [{ location: "Rome" }, { location: "Roma" }, undefined],
      [{ location: "Rome" }, { location: "Paris" }, "is of Paris"],
    ]);
  });

  it("is at a point on earth other than 0, 0", async () => {
    const point = (...coordinates: number[]) => ({ geometry: { coordinates } });
    await holdRules("data.lookup.weather.geojson", "is_on_earth", [
      ...[point(180, 90), point(-180, -90), point(0, 1), point(1, 0)].map(
        (it): RuleCase => [{}, it, undefined],
      ),
      [{}, point(180.1, 0), "180.1, 0 is nowhere"],
      [{}, point(-180.1, 0), "-180.1, 0 is nowhere"],
      [{}, point(0, 90.1), "0, 90.1 is nowhere"],
      [{}, point(0, -90.1), "0, -90.1 is nowhere"],
      [{}, point(), "999, 999 is nowhere"],
      [{}, point(0, 0), "is at 0, 0: no place was found"],
    ]);
    await holdRules("data.lookup.weather.geojson", "has_a_time", [
      [{}, { properties: { observed_at: "2020-01-01" } }, undefined],
    ]);
  });
});

describe("the weather in a sentence", () => {
  const id = "data.lookup.weather.summary-text";
  it("has four words, a possible temperature and an end", async () => {
    await holdRules(id, "is_not_empty", [
      [{}, { text: "It is warm today" }, undefined],
      [{}, { text: "It is warm" }, "has fewer than four words"],
    ]);
    await holdRules(id, "is_complete", [
      [{}, { text: "Warm." }, undefined],
      [{}, { text: "Warm" }, "stops within a sentence"],
    ]);
    const none = "gives no temperature in degrees";
    const impossible = (found: string) => `${found} is impossible`;
    await holdRules(
      id,
      "gives_a_temperature",
      (
        [
          ["12 °C", undefined],
          ["-5°", undefined],
          ["−92 °C", undefined],
          ["58 °C", undefined],
          ["-93 °C", impossible("-93 °C")],
          ["59 °C", impossible("59 °C")],
          ["12,5 °C", undefined],
          ["136 °F", undefined],
          ["137 °F", impossible("137 °F")],
          ["-134 F", impossible("-134 F")],
          ["100 ℉", undefined],
          ["100 ℃", impossible("100 ℃")],
          ["100 degrees Celsius", impossible("100 degrees Celsius")],
          ["100 degrees Fahrenheit", undefined],
          ["100 degrees", undefined],
          ["100 Fahrenheit", undefined],
          ["200 degrees", impossible("200 degrees")],
          ["12 °C, wind from 270°", undefined],
          ["200°, wind from 270°", impossible("200°")],
          ["12 °C and 100 °C", impossible("100 °C")],
          ["12 apples", none],
          ["12 Cows", none],
          ["", none],
        ] as const
      ).map(([text, said]): RuleCase => [{}, { text }, said]),
    );
  });

  it("names the place, and no other state or country beside it", async () => {
    const named = (location: string, text: string, said?: string): RuleCase => [{ location }, { text }, said];
    await holdRules(id, "names_the_place", [
      named("Paris", "In Paris it rains."),
      named("Paris", "In Parisville it rains.", "does not name paris"),
      named("東京", "It rains."),
      named("48.8, 2.3", "It rains."),
      named("München", "In Munich it rains."),
      named("Saint Louis, MO", "In St. Louis it rains."),
      named("East Saint Louis, IL", "In East St. Louis it rains."),
      named("East St. Louis, IL", "In East Saint Louis it rains."),
      named("Mount Vernon, NY", "In Mt. Vernon it rains."),
      named("Mt. Vernon, NY", "In Mount Vernon it rains."),
      named("East Mount Vernon", "In East Mt. Vernon it rains."),
      named("Fort Worth, TX", "In Ft. Worth it rains."),
      named("Sainte Anne", "In Ste. Anne it rains."),
      named("St. John's, NL", "In Saint John's it rains."),
      named("East Saint Louis, IL", "In St. Louis it rains.", "does not name east saint louis"),
      named(
        "East Saint Louis, IL",
        "In East St. Louis, Maine it rains.",
        "is of east saint louis in Maine it rains.",
      ),
      named("Mexico City", "Mexico City has rain."),
      named("Frankfurt am Main", "Frankfurt has rain."),
      named("Kansas City", "Kansas has rain.", "does not name kansas city"),
      named("Austin Texas", "Austin has rain."),
      named("Portland OR 97201", "Portland has rain."),
      named(" HK, China", "In HK it rains (a lot), Japan is dry."),
      named("Portland, OR", "Portland Maine has rain.", "is of portland in Maine"),
      named("Portland, OR", "Portland Oregon has rain."),
      named("Portland, OR", "Portland Maine has rain and wind today.", "is of portland in Maine"),
      named("Portland, OR", "Portland  Maine has rain.", "is of portland in Maine"),
      named("Portland, OR", "Portland has rain. Not so Portland Maine", "is of portland in Maine"),
      named("Rome, Italy", "Rome has rain, Georgia has none."),
      named("Rome, Italy", "In Rome, Georgia has rain.", "is of rome in Georgia has rain."),
      named("Paris, TX", "PARIS, FRANCE IS COLD.", "is of paris in FRANCE IS COLD."),
      named("Paris, TX", "PARIS, CUBA IS HOT.", "is of paris in CUBA IS HOT."),
      named("Salt Lake City Utah", "Salt Lake City has rain."),
      named("Salt Lake City Utah", "Salt has rain.", "does not name salt lake city utah"),
      named("Stratford upon Avon", "Stratford has rain."),
      named("Frankfurt on Oder", "Frankfurt has rain."),
      named("Lake City Park", "Lake has rain.", "does not name lake city park"),
      named("Portland OR", "Portland, Maine has rain.", "is of portland or in Maine has rain."),
      named("Portland", "Portland, Maine has rain."),
      named("Paris, TX", "Paris (France) has rain.", "is of paris in France"),
      named("Paris, TX", "Paris in France has rain.", "is of paris in France has rain."),
      named("Paris, France", "PARIS, IT IS COLD."),
      named("Paris, France", "Paris, it is cold."),
      named("Paris, France", "Paris, IT is cold.", "is of paris in IT is cold."),
      named("Paris, France", "Paris: HI 12 °C."),
      named("Oslo, Norway", "Oslo SE wind."),
      named("Rome, Italy", "Rome. Georgia is far away."),
      named("Salt Lake City, Utah", "Salt Lake City Maine has rain.", "is of salt lake city in Maine"),
      named("Durham, UK", "Durham North Carolina has rain.", "is of durham in North Carolina"),
      named("Durham, UK", "In Durham, North Carolina it rains.", "is of durham in North Carolina it rains."),
      named(
        "Durham, UK",
        "In Durham, North    Carolina it rains.",
        "is of durham in North    Carolina it rains.",
      ),
      named(
        "Paris, TX",
        `In Paris, France it rains ${"x".repeat(80)}.`,
        `is of paris in France it rains ${"x".repeat(44)}`,
      ),
      named(" Georgia US", "In Georgia it rains."),
      named("Durham North Carolina", "Durham has rain."),
      named("Durham North   Carolina", "Durham has rain."),
      named("Lake Placid", "Lakeplacid has rain.", "does not name lake placid"),
      named("Oak City Park", "Oak Park has rain.", "does not name oak city park"),
    ]);
  });
});
