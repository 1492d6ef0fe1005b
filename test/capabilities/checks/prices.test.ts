import { expect } from "chai";
import { CURRENCIES, currenciesOf } from "tallystick-capabilities/checks/isoCodes";
import { coinPriceProblem, sharePriceProblem } from "tallystick-capabilities/checks/plausiblePrices";

describe("plausible prices", () => {
  it("of well-known shares are from a tenth to ten times the usual price", () => {
    for (const [ticker, price] of [
      ["AAPL", 25],
      ["aapl", 2_500],
      ["BRK.A", 74_000],
      ["7203.T", 290],
    ] as const)
      expect(sharePriceProblem(ticker, price), `${ticker} ${price}`).to.equal(undefined);
    for (const [ticker, price] of [
      ["AAPL", 24.99],
      ["aapl", 2_500.01],
      ["BRK.A", 73_999],
      ["7203.T", 29_001],
    ] as const)
      expect(sharePriceProblem(ticker, price)).to.equal(`${price} is far from what it has ever cost`);
  });

  it("of other shares are only not impossible", () => {
    for (const price of [0.0001, 1, 10_000_000])
      for (const ticker of ["OTHER", "constructor", "toString"])
        expect(sharePriceProblem(ticker, price), `${ticker} ${price}`).to.equal(undefined);
    for (const price of [0.00009, 0, -5, 10_000_001])
      expect(sharePriceProblem("OTHER", price)).to.equal(`${price} is no price of a share`);
  });

  it("of well-known coins are checked in currencies that are near the dollar", () => {
    for (const vs of ["USD", "EUR", "GBP", "CHF", "USDC", "USDT", "DAI"]) {
      for (const price of [9_000, 900_000])
        expect(coinPriceProblem("BTC", vs, price), `${vs} ${price}`).to.equal(undefined);
      for (const price of [8_999, 900_001])
        expect(coinPriceProblem("BTC", vs, price)).to.equal(`${price} is far from what it has ever cost`);
    }
    for (const [symbol, vs] of [
      ["BTC", "JPY"],
      ["OTHER", "USD"],
      ["constructor", "USD"],
    ] as const)
      expect(coinPriceProblem(symbol, vs, 0.5), `${symbol} ${vs}`).to.equal(undefined);
  });
});

describe("the currencies of a share", () => {
  it("are those of its exchange, which the end of its ticker names", () => {
    const cases: [ticker: string, currencies: string[] | undefined][] = [
      ["ENI.MI", ["EUR"]],
      ["eni.mi", ["EUR"]],
      ["BMW.F", ["EUR"]],
      ["VOD.L", ["GBP", "USD", "EUR"]],
      ["7203.T", ["JPY"]],
      ["SHOP.TO", ["CAD"]],
      ["AAPL", undefined],
      ["BRK.B", undefined],
      ["X.ZZ", undefined],
      ["X.TOO", undefined],
      ["MI", undefined],
    ];
    for (const [ticker, currencies] of cases) expect(currenciesOf(ticker), ticker).to.deep.equal(currencies);
  });

  it("include the second one of some tickers, and only francs for the largest companies of Switzerland", () => {
    const cases: [ticker: string, currencies: string[]][] = [
      ["80700.HK", ["HKD", "CNY"]],
      ["0700.HK", ["HKD"]],
      ["9123.HK", ["HKD", "USD"]],
      ["09123.HK", ["HKD", "USD"]],
      ["900901.SS", ["CNY", "USD"]],
      ["600000.SS", ["CNY"]],
      ["200011.SZ", ["CNY", "HKD"]],
      ["000001.SZ", ["CNY"]],
      ["DLR-U.TO", ["CAD", "USD"]],
      ["dlr.u.to", ["CAD", "USD"]],
      ["NESN.SW", ["CHF"]],
      ["nesn.sw", ["CHF"]],
      ["CHSPI.SW", ["CHF", "EUR", "USD", "GBP"]],
      ["XNESN.SW", ["CHF", "EUR", "USD", "GBP"]],
    ];
    for (const [ticker, currencies] of cases) expect(currenciesOf(ticker), ticker).to.deep.equal(currencies);
    for (const [, currencies] of cases)
      for (const one of currencies) expect(CURRENCIES.has(one)).to.equal(true);
    expect([CURRENCIES.has("USD"), CURRENCIES.has("usd"), CURRENCIES.has("DEM")]).to.deep.equal([
      ...[true, false, false],
    ]);
  });
});
