import { expect } from "chai";
import { missingNumber, numbersInText } from "tallystick-capabilities/checks/numbersInText";

describe("a number in a text", () => {
  it("is read in every way that its notation allows", () => {
    const cases: [text: string, numbers: [written: string, ...ways: string[]][]][] = [
      ["", []],
      ["no numbers, k or mn", []],
      ["007", [["007", "7"]]],
      ["1234.50", [["1234.50", "123450", "12345"]]],
      ["0.50", [["0.50", "50", "5"]]],
      ["1,234", [["1,234", "1234"]]],
      ["1,234.500", [["1,234.500", "1234500", "12345"]]],
      ["1 234 567", [["1 234 567", "1234567"]]],
      ["12,34,567", [["12,34,567", "1234567"]]],
      [
        "٣٫٥ and ९",
        [
          ["3٫5", "35"],
          ["9", "9"],
        ],
      ],
      [
        "in 2026 300 people",
        [
          ["2026", "2026"],
          ["300", "300"],
        ],
      ],
      [
        "31.12.2026",
        [
          ["31", "31"],
          ["12", "12"],
          ["2026", "2026"],
        ],
      ],
      [
        "12:30",
        [
          ["12", "12"],
          ["30", "30"],
        ],
      ],
      ["hundred", [["hundred", "1", "100"]]],
      ["15k", [["15", "15", "15000"]]],
      ["15 apples, k", [["15", "15"]]],
      ["2.5 million", [["2.5", "25", "2500000"]]],
      ["2.555 k", [["2.555", "2555", "2555000"]]],
      ["3 hundred thousand", [["3", "3", "300", "300000"]]],
      [
        "1億2500万",
        [
          ["1", "1", "100000000"],
          ["2500", "2500", "100002500", "25000000", "125000000"],
        ],
      ],
      ["three hundred", [["hundred", "3", "300", "1", "100"]]],
      ["trecento", [["trecento", "3", "300"]]],
      ["viermilliarden", [["viermilliarden", "4", "4000000000"]]],
      ["three, hundred", [["hundred", "3", "300", "1", "100"]]],
      ["three of a hundred", [["hundred", "1", "100"]]],
      ["5 mil millones", [["5", "5", "5000", "5000000000"]]],
      ["1,5万", [["1,5", "15", "15000"]]],
      [
        "12億3456万7890",
        [
          ["12", "12", "1200000000"],
          ["3456", "3456", "1200003456", "34560000", "1234560000"],
          ["7890", "7890", "1234567890"],
        ],
      ],
      [
        "1万50000",
        [
          ["1", "1", "10000"],
          ["50000", "50000"],
        ],
      ],
      [
        "1,5万 2",
        [
          ["1,5", "15", "15000"],
          ["2", "2"],
        ],
      ],
      [
        "1億。2500",
        [
          ["1", "1", "100000000"],
          ["2500", "2500"],
        ],
      ],
    ];
    for (const [text, numbers] of cases) {
      const found = numbersInText(text).map(({ written, ways }) => [written, ...new Set(ways)]);
      expect(found, text).to.deep.equal(numbers);
    }
  });

  it("counts as missing from three digits on, if the other text has it in no notation", () => {
    expect(missingNumber("99 and 7", "")).to.equal(undefined);
    expect(missingNumber("100 and 200", "200")).to.equal("100");
    expect(missingNumber("hundred and 200", "none")).to.equal("200");
    for (const [one, other] of [
      ["23.59", "23:59"],
      ["23.59", "11:59"],
      ["23.59", "23h59"],
      ["23.59", "23 h 59"],
      ["12.30 am", "0:30"],
      ["12.30 p.m.", "12:30"],
      ["2.30 PM", "14:30"],
      ["kl. 14.30", "2:30"],
      ["ore 9.05", "9:05"],
      ["14:30", "14.30 Uhr"],
      ["the 1980s", "the 80s"],
      ["the 1980's", "the 80s"],
      ["1980er", "80er"],
      ["1980ern", "80ern"],
      ["1980-х", "80-х"],
      ["300", "dreihundert"],
      ["300", "three hundred"],
    ] as const)
      expect(missingNumber(one, other), `${one}, ${other}`).to.equal(undefined);
    for (const [one, other] of [
      ["25.30", "25:30"],
      ["12.75", "12:75"],
      ["112.30", "12:30"],
      ["12.305", "12:30"],
      ["23.59", "3:59"],
      ["23.59", "123:59"],
      ["2.30 pm", "15:30"],
      ["the 1985s", "85"],
      ["in 1980", "in 80"],
      ["the 1480s", "the 80s"],
      ["11980s", "80"],
    ] as const)
      expect(missingNumber(one, other), `${one}, ${other}`).to.be.a("string");
  });
});
