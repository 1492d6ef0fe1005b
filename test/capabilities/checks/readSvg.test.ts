import { expect } from "chai";
import { readSvg } from "tallystick-capabilities/checks/readSvg";

const NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"';
const document = (inside: string, root = 'viewBox="0 0 100 100"') =>
  `<svg ${NAMESPACE} ${root}>${inside}</svg>`;
const XLINK = 'xmlns:x="http://www.w3.org/1999/xlink"';
const read = (inside: string, root?: string) => readSvg(document(inside, root));

describe("a drawing", () => {
  it("counts the shapes that can be seen", () => {
    const seen = [
      ...['<rect width="5" height="5"/>', '<circle r="5"/>', '<ellipse rx="5" ry="5"/>', "<text>a</text>"],
      ...[
        '<line x2="5"/>',
        '<line y1="5"/>',
        '<polyline points="1,1 2,2"/>',
        '<polygon points="1-2.5.5.5"/>',
      ],
      ...['<path d="M0 0L5 5"/>', '<path d="M0 0h5" fill="none" stroke="red"/>'],
      ...['<g fill="none"><rect fill="red" width="5" height="5"/></g>', '<g><g><circle r="5"/></g></g>'],
      ...['<circle r="5" opacity="0.1"/>', '<circle r="5" style="fill: red; opacity: 1"/>'],
    ];
    for (const shape of seen) expect(read(shape).visible, shape).to.equal(1);
    const unseen = [
      ...[
        '<rect width="5"/>',
        '<rect height="5"/>',
        '<rect width="-5" height="5"/>',
        '<rect width="5" height="0"/>',
      ],
      ...["<circle/>", '<circle r="0"/>', '<ellipse rx="5"/>', '<ellipse ry="5"/>', '<line x1="5" x2="5"/>'],
      ...[
        '<polyline points="1,1 2"/>',
        "<polygon/>",
        "<path/>",
        '<path d="M0 0"/>',
        "<g/>",
        "<title>a</title>",
      ],
      ...[
        '<circle r="5" fill="none"/>',
        '<circle r="5" style="fill:none"/>',
        '<circle r="5" display="none"/>',
      ],
      ...[
        '<circle r="5" visibility="hidden"/>',
        '<circle r="5" opacity="0"/>',
        '<circle r="5" opacity="0.0"/>',
      ],
      ...['<g fill="none"><circle r="5"/></g>', '<g display="none"><g><circle r="5"/></g></g>'],
      ...["defs", "symbol", "clipPath", "mask", "pattern", "marker", "linearGradient", "radialGradient"].map(
        (name) => `<${name}><circle r="5"/></${name}>`,
      ),
    ];
    for (const shape of unseen) expect(read(shape).visible, shape).to.equal(0);
    expect(read('<circle r="5"/>'.repeat(3)).visible).to.equal(3);
  });

  it("counts paths with their steps, and what references draw again", () => {
    expect(read('<path d="M0 0L5 5L10 10"/><path d="M0 0"/>')).to.include({ visible: 1, steps: 3, paths: 2 });
    const twice = '<g id="a"><path d="M0 0L5 5"/><circle r="5"/></g><use href="#a"/><use href="#a"/>';
    expect(read(twice)).to.include({ visible: 4, paths: 3, repeated: 4 });
    expect(read('<use href="#nothing"/>')).to.include({ visible: 0, repeated: 0 });
    const hidden = '<g id="a"><path d="M0 0L5 5"/></g><use href="#a" style="href:#b"/>';
    expect(read(hidden), "a style sets no address").to.include({ visible: 2, repeated: 1 });
    const named = `<g xml:id="a"/><g id="a"><path d="M0 0L5 5"/></g><use ${XLINK} x:href="#b" href="#a"/>`;
    expect(read(named), "only a plain id is an id").to.include({ visible: 2, repeated: 1 });
    const animations = ["animate", "animateColor", "animateMotion", "animateTransform"];
    for (const name of ["a", "set", "discard", "mpath", ...animations]) {
      const pointing = `<g id="a"><path d="M0 0L5 5"/><${name} href="#a"/></g>`;
      expect(read(pointing), `${name} draws nothing`).to.include({ paths: 1, repeated: 0 });
    }
    expect(read('<a href="#a" fill="url(#b)"/><g id="b"><rect/></g>').repeated, "but their paint").to.equal(
      1,
    );
    const defined = '<defs><path id="a" d="M0 0L5 5"/></defs><use href="#a"/>';
    expect(read(defined)).to.include({ visible: 1, paths: 2, repeated: 1 });
    expect(read('<defs><use href="#a"/></defs>').visible).to.equal(0);
  });

  it("counts the shapes that are completely outside, after all transforms", () => {
    const inside = [
      ...[
        '<rect x="90" width="20" height="20"/>',
        '<circle cx="-5" cy="50" r="10"/>',
        '<text x="900">a</text>',
      ],
      ...['<line x1="-10" x2="110" y1="50" y2="50"/>', '<circle cx="114" cy="50" r="10"/>'],
      ...['<rect x="-1000" width="5" height="5" transform="translate(1010)"/>', '<circle cx="50cm" r="5"/>'],
      ...[
        '<g transform="scale(0.1)"><circle cx="500" r="5"/></g>',
        '<circle cx="500" r="5" transform="spin(3)"/>',
      ],
      ...['<g transform-origin="9 9" transform="scale(2)"><circle cx="500" r="5"/></g>'],
      ...['<svg x="1"><circle cx="500" r="5"/></svg>', '<polygon points="50,50 60,60 NaN"/>'],
    ];
    for (const shape of inside) expect(read(shape).outside, shape).to.equal(0);
    const outside = [
      ...['<rect x="110" width="20" height="20"/>', '<rect x="-30" width="20" height="20"/>'],
      ...['<rect y="110" width="20" height="20"/>', '<rect y="-30" width="20" height="20"/>'],
      ...['<circle cx="116" cy="50" r="10"/>', '<circle cx="-16" cy="50" r="10"/>'],
      ...['<circle cx="50" cy="116" r="10"/>', '<circle cx="50" cy="-16" r="10"/>'],
      ...['<ellipse cx="140" cy="50" rx="20" ry="5"/>', '<line x1="120" x2="130" y1="5" y2="5"/>'],
      ...['<polyline points="120,5 130,5"/>', '<polygon points="5,120 5,130 9,130"/>'],
      ...['<path d="M120 5h10"/>', '<rect x="50px" y="50" width="5" height="5" transform="translate(100)"/>'],
      ...['<g transform="translate(60)"><g transform="translate(60)"><circle r="5"/></g></g>'],
      ...['<g transform="scale(2)"><rect x="60" width="5" height="5"/></g>'],
    ];
    for (const shape of outside) expect(read(shape).outside, shape).to.equal(1);
    expect(read('<circle cx="50" cy="50" r="5"/>', 'viewBox="100 0 100 100"').outside).to.equal(1);
    expect(read('<circle cx="150" cy="50" r="5"/>', 'viewBox="100 0 100 100"').outside).to.equal(0);
    expect(read('<circle cx="150" cy="50" r="5"/>', 'width="100" height="100px"').outside).to.equal(1);
    for (const root of [
      'width="100%" height="100"',
      'width="10cm" height="10"',
      'width="10" height="10cm"',
      "",
    ])
      expect(read('<circle cx="150" cy="50" r="5"/>', root).outside, root).to.equal(0);
  });

  it("has a size by its box, or by its width and its height", () => {
    for (const root of [
      ...['viewBox="0 0 10 10"', 'viewBox="-5,-5,10,10"', 'viewBox=" 0 0 0.5 1e3 "', 'width="5" height="5"'],
      ...['width="100%" height="50%"', 'viewBox="0 0 0 10" width="5" height="5"'],
    ])
      expect(read("", root).hasSize, root).to.equal(true);
    for (const root of [
      ...["", 'viewBox="0 0 10"', 'viewBox="0 0 10 10 10"', 'viewBox="0 0 0 10"', 'viewBox="0 0 10 0"'],
      ...['viewBox="0 0 x 10"', 'width="5"', 'height="5"', 'width="0" height="5"', 'width="5" height="auto"'],
      ...['viewBox="0 0 -1 10"', 'viewBox="0 0 10 Infinity"'],
    ])
      expect(read("", root).hasSize, root).to.equal(false);
  });

  it("names the first part that runs code or loads something", () => {
    const data = "data:image/png;base64,AAAA";
    const active: [inside: string, part: string][] = [
      ["<script/>", "a script element"],
      ["<foreignObject/>", "a foreignObject element"],
      ["<iframe/><script/>", "a iframe element"],
      ["<VIDEO/>", "a VIDEO element"],
      ['<rect onclick="x"/>', "the attribute onclick"],
      ['<rect OnLoad="x"/>', "the attribute OnLoad"],
      ['<image href="https://a.example/"/>', "the address https://a.example/"],
      ['<a href=" javascript:x"/>', "the address  javascript:x"],
      [
        `<image href="https://a.example/${"x".repeat(99)}"/>`,
        `the address https://a.example/${"x".repeat(62)}`,
      ],
      ['<image href="data:image/svg+xml;base64,AAAA"/>', "the address data:image/svg+xml;base64,AAAA"],
      ['<rect fill="url(https://a.example/#b)"/>', "the address in fill"],
      ['<rect style="fill: url(https://a.example/)"/>', "the address in style"],
      ['<set attributeName="href" to="x"/>', "an animation of href"],
      ['<animate attributeName=" xlink:href" to="x"/>', "an animation of  xlink:href"],
      ['<animateMotion attributeName="onclick"/>', "an animation of onclick"],
      ["<style>@import 'x';</style>", "@import in a style"],
      ["<style>a { b: url(//a.example/x) }</style>", "url( in a style"],
      ["<style>a { b: image-set( 'x' ) }</style>", "image-set( in a style"],
      ["<style>a { src : x; src (x) }</style>", "src ( in a style"],
      ["<style>\\75rl(x)</style>", "\\ in a style"],
      ["<style>@im<!-- x -->port 'x';</style>", "@import in a style"],
      ["<style><![CDATA[@import 'x';]]></style>", "@import in a style"],
      ['<b xmlns="http://www.w3.org/1999/xhtml"/>', "the HTML element b"],
      // A style sets no address, and no name of an animated attribute.
      ['<a href="javascript:x" style="href:#a"/>', "the address javascript:x"],
      ['<a style="HREF:#a;href : #a" href="https://a.example/"/>', "the address https://a.example/"],
      ['<set attributeName="href" to="x" style="attributeName:x"/>', "an animation of href"],
      ['<rect style="fill: \\75rl(//a.example/x); style: x"/>', "the address in style"],
      // Both kinds of address count, whichever comes last.
      [`<a href="javascript:x" ${XLINK} x:href="#a"/>`, "the address javascript:x"],
      [`<a ${XLINK} x:href="javascript:x" href="#a"/>`, "the address javascript:x"],
      [`<image ${XLINK} x:href="https://a.example/"/>`, "the address https://a.example/"],
      // An attribute is CSS too.
      ['<rect cursor="\\75 rl(https://a.example/)"/>', "the address in cursor"],
      ["<rect mask=\"image-set('https://a.example/' 1x)\"/>", "the address in mask"],
      ['<set attributeName="mask" to="u\\72l(https://a.example/)"/>', "the address in to"],
    ];
    for (const [inside, part] of active) expect(read(inside).active, inside).to.equal(part);
    const passive = [
      ...['<use href="#a"/>', '<use href=" #a"/>', `<image href="${data}"/>`, '<rect fill="url(#a)"/>'],
      ...[
        `<rect fill="url('${data}')"/>`,
        "<style>a { b: url( '#c' ) }</style>",
        "<text>@import url(x)</text>",
      ],
      ...["<style>a { b: url(data:font/woff2;base64,AA) }</style>", '<set attributeName="x" to="href"/>'],
      ...["<style>a { b: url(data:application/x-font-ttf;base64,AA) }</style>", '<rect data-on="x"/>'],
      ...[
        `<use ${XLINK} x:href="#a"/>`,
        '<text aria-label="C:\\urls" font-family="\\41 rial">a</text>',
        '<rect fill="url(\\23 a)"/>',
      ],
      ...['<animate attributeName="hrefs"/>', "<scripts/>", "<style>a { b: red }</style><text>\\</text>"],
    ];
    for (const inside of passive) expect(read(inside).active, inside).to.equal(undefined);
    const activeAfter = (text: string) => readSvg(text + document("")).active;
    expect(activeAfter('<?xml-stylesheet href="x"?>')).to.equal("a style sheet from elsewhere");
    expect(activeAfter('<!DOCTYPE svg [<!ENTITY a "b">]>')).to.equal("a document type with entities");
    expect(activeAfter("<!DOCTYPE svg>")).to.equal(undefined);
    expect(activeAfter('<?xml version="1.0"?>')).to.equal(undefined);
  });

  it("names the first path or number that is malformed", () => {
    const malformed: [inside: string, part: string][] = [
      ['<path d="M0 0L5"/>', 'd="M0 0L5"'],
      ['<path d="M0 NaN"/><path d="x"/>', 'd="M0 NaN"'],
      ['<rect width="NaN"/>', 'width="NaN"'],
      ['<rect x="undefined"/>', 'x="undefined"'],
      ['<circle cx="5" r="-Infinity"/>', 'r="-Infinity"'],
      ['<g transform="translate(NaN, 5)"/>', 'transform="translate(NaN, 5)"'],
      ['<rect stroke-width="NaN"/>', 'stroke-width="NaN"'],
      ['<polyline points="0,0 undefined,5"/>', 'points="0,0 undefined,5"'],
      [`<path d="M0 0 ${"L1 1 ".repeat(30)}x"/>`, `d="${`M0 0 ${"L1 1 ".repeat(30)}`.slice(0, 80)}"`],
      [`<rect x="${"1".repeat(90)} NaN"/>`, `x="${"1".repeat(80)}"`],
    ];
    for (const [inside, part] of malformed) expect(read(inside).malformed, inside).to.equal(part);
    const good = [
      ...['<path d="M0 0L5 5z"/>', "<path/>", '<g id="NaN" class="undefined"/>', "<text>NaN Infinity</text>"],
      ...[
        '<text font-family="Infinity"/>',
        '<rect fill="url(#Infinity)"/>',
        '<rect fill="NaNo"/>',
        '<g d="x"/>',
      ],
    ];
    for (const inside of good) expect(read(inside).malformed, inside).to.equal(undefined);
  });

  it("is refused if it is no SVG, no well-formed XML, or too deep", () => {
    const cases: [text: string, message: RegExp][] = [
      ["", /^is no well-formed XML: /],
      ["hello", /^is no well-formed XML: /],
      [`<svg ${NAMESPACE}>`, /^is no well-formed XML: /],
      [`<svg ${NAMESPACE}><g></svg>`, /^is no well-formed XML: /],
      ["<svg/>", /^does not begin with an svg element$/],
      [`<g ${NAMESPACE}/>`, /^does not begin with an svg element$/],
      ['<svg xmlns="http://www.w3.org/1999/xhtml"/>', /^does not begin with an svg element$/],
      [document("<g>".repeat(100_000)), /^is nested deeper than \d+ elements$/],
    ];
    for (const [text, message] of cases) expect(() => readSvg(text), text.slice(0, 60)).to.throw(message);
  });
});
