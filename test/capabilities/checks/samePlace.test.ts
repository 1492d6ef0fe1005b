import { expect } from "chai";
import {
  isRegion,
  isSamePlace,
  isState,
  mayBeRegion,
  placeName,
  plain,
  regionsAgree,
} from "tallystick-capabilities/checks/samePlace";

describe("the place of an answer", () => {
  it("has the same name in every spelling and language", () => {
    const same = [
      ["München", "Munich"],
      ["St. Louis", "Saint Louis"],
      ["Mt. Vernon", "Mount Vernon"],
      ["Ft Worth", "fort worth"],
      ["Ste. Anne", "Sainte Anne"],
      ["East St. Louis", "East Saint Louis"],
      ["Bourg Ste Anne", "Bourg Sainte Anne"],
      ["Den Haag", "The Hague"],
      ["Ciudad de México", "Mexico City"],
      ["NYC", "New York"],
      ["Łódź", "lodz"],
      ["Tromsø", "TROMSO"],
      ["Straße", "strasse"],
      ["  Aix-en-Provence ", "aix en provence"],
      ["Xi'an", "Xian"],
      ["O’Fallon", "OFallon"],
      ["Koeln", "Cologne"],
      ["Muenchen", "Munich"],
      ["Kobenhavn", "Copenhagen"],
    ];
    for (const [one = "", other = ""] of same) {
      expect(placeName(one), one).to.equal(placeName(other));
      expect([isSamePlace(one, other), isSamePlace(other, one)], one).to.deep.equal([true, true]);
    }
    expect(placeName("stlouis"), "not a short form").to.equal("stlouis");
    expect(placeName("Fast Louis"), "the end of a word").to.equal("fast louis");
    expect(placeName("Main St"), "a street").to.equal("main st");
    expect(placeName("Billings MT 59101"), "Montana").to.equal("billings mt 59101");
    expect(placeName("Old Ft Worth")).to.equal("old ft worth");
    expect(plain("Ægir & Œuvre, Đà ıþð")).to.equal("aegir oeuvre da ithd");
  });

  it("is the requested one if one name has the other as whole words, and the regions fit", () => {
    const good = [
      ["Paris", "Paris, France"],
      ["Paris, FR", "Paris, France"],
      ["Greater London", "London"],
      ["Portland OR", "Portland, Oregon"],
      ["Portland, OR 97201", "Portland, Oregon, USA"],
      ["Perth, WA", "Perth, Australia"],
      ["London, Ontario", "London, Canada"],
      ["Springfield", "Springfield, IL"],
      ["Tokyo", "東京"],
      ["Milano, MI, Italy", "Milan, Italy"],
      ["Москва", "Moscow"],
      ["Malmoe", "Malmö"],
      ["Järvenpää", "Jaervenpaeae"],
      ["Tübingen", "Tuebingen"],
      ["Tromsoe", "Tromsø"],
      ["Åre", "Åre"],
      ["London", "Greater London"],
      ["Århus", "Aarhus"],
      ["New Delhi", "Delhi"],
      ["Quebec City", "Quebec"],
      ["Athens Москва", "Москва"],
      ["Tokyo 東京", "東京"],
      ["51.5", "51.5, 0.1"],
      ["London", "51.5, 0.1"],
      ["Recife, PE, Brasil", "Recife, Peru"],
      ["Ottawa, ON, Canada", "Ottawa, Ontario"],
    ];
    const bad = [
      ["Paris, TX", "Paris, France"],
      ["Portland OR", "Portland, Maine"],
      ["Glasgow MT 59230", "Glasgow, Kentucky"],
      ["Portland, Maine", "Portland OR"],
      ["Springfield, IL", "Springfield, MA"],
      ["London, Ontario", "London, UK"],
      ["Londonderry", "London"],
      ["Rome", "Paris"],
      ["", "Paris"],
      ["Paris", ""],
      [", France", "Paris, France"],
      ["東京", "大阪"],
      ["東京都", "東京"],
      ["Baar", "Bar"],
      ["Athens Москва", "Paris"],
      ["Bedford", "New Bedford"],
      ["New Bedford", "Bedford"],
      ["", "51.5"],
      ["", ""],
      ["Oklahoma City", "Oklahoma"],
      ["Oklahoma", "Oklahoma City"],
      ["York", "New York"],
      ["New York", "York"],
      ["51.5, 0.1", "London"],
      ["51.5", "52"],
      ["?", "東京"],
      ["Milano, MI, Italy", "Milano, Michigan"],
      ["San José, Costa Rica", "San Jose, CA"],
      ["Greater London, Canada", "London, UK"],
    ];
    for (const [one = "", other = ""] of good)
      expect(isSamePlace(one, other), `${one}, ${other}`).to.equal(true);
    for (const [one = "", other = ""] of bad)
      expect(isSamePlace(one, other), `${one}, ${other}`).to.equal(false);
  });

  it("cannot contradict a region that is unknown, or regions that contradict each other", () => {
    const cases: [answered: string[], asked: string[], agree: boolean][] = [
      [[], ["France"], true],
      [["France"], [], true],
      [["Atlantis"], ["France"], true],
      [["France"], ["Atlantis"], true],
      [["FR"], ["France"], true],
      [["Germany"], ["France"], false],
      [["TX"], ["USA"], true],
      [["USA"], ["Texas"], true],
      [["CA"], ["Canada"], true],
      [["CA"], ["California"], true],
      [["CA", "USA"], ["Canada"], false],
      [["WA"], ["Australia"], true],
      [["WA", "Australia"], ["Washington"], false],
      [["TN", "India"], ["India"], true],
      [["TN", "India"], ["Tennessee"], false],
      [["Texas"], ["France", "Germany"], true],
      [["OR 97201"], ["Oregon"], true],
      [["97201"], ["Oregon"], true],
      [["OR 97201"], ["Maine"], false],
      [["97201 OR"], ["Maine"], false],
      [["California"], ["CA"], true],
      [["PE", "Brasil"], ["Brazil"], true],
      [["PE", "Atlantis", "123"], ["Brazil"], true],
      [["PE", "XX"], ["Brazil"], false],
      [["NSW", "Atlantis"], ["Canada"], true],
      [["WA", "Australia"], ["Queensland"], false],
      [["Italy", "MI"], ["Italy"], false],
      [["MI", "Italy"], ["Italy"], true],
      [["BC", "USA"], ["USA"], false],
      [["BC", "Texas"], ["Texas"], false],
    ];
    for (const [answered, asked, agree] of cases)
      expect(regionsAgree(answered, asked), `${answered}; ${asked}`).to.equal(agree);
  });

  it("has regions by name and by code; a code in a sentence has capital letters", () => {
    for (const name of ["Texas", "tx", "TX", "United Kingdom", "NSW", "ontario"])
      expect(isRegion(name), name).to.equal(true);
    for (const name of ["Paris", "", "XX"]) expect(isRegion(name), name).to.equal(false);
    expect(["Kansas", "ks", "Georgia", "Quebec", "France", "x"].map(isState)).to.deep.equal([
      ...[true, true, true, false, false, false],
    ]);
    const words = ["IT", "it", "USA", "Usa", "Iran", "iran"];
    expect(words.map(mayBeRegion)).to.deep.equal([true, false, true, false, true, true]);
  });
});
