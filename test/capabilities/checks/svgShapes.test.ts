import { expect } from "chai";
import { readSvg, type SvgContents } from "tallystick-capabilities/checks/readSvg";

const document = (inside: string, root = 'viewBox="0 0 100 100"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${root}>${inside}</svg>`;
const read = (inside: string, root?: string): SvgContents => readSvg(document(inside, root));
const outside = (shape: string, root?: string): number => read(shape, root).outside;

describe("a shape at the edge of its picture", () => {
  it("may lie a quarter of its larger side outside", () => {
    for (const [shape, at, beyond] of [
      ['x="AT" y="40" width="20" height="10"', "105", "105.25"],
      ['x="AT" y="40" width="20" height="10"', "-25", "-25.25"],
      ['y="AT" x="40" width="10" height="20"', "105", "105.25"],
      ['y="AT" x="40" width="10" height="20"', "-25", "-25.25"],
    ] as const) {
      expect(outside(`<rect ${shape.replace("AT", at)}/>`), `${shape} ${at}`).to.equal(0);
      expect(outside(`<rect ${shape.replace("AT", beyond)}/>`), `${shape} ${beyond}`).to.equal(1);
    }
  });

  it("is judged by every corner, also after a turn", () => {
    for (const [x, y] of [
      [50, 115],
      [50, -15],
      [115, 50],
      [-15, 50],
    ] as const) {
      const corner = `x="${x - 10}" y="${y - 10}" width="20" height="20"`;
      expect(outside(`<rect ${corner} transform="rotate(45 ${x} ${y})"/>`), `${x} ${y}`).to.equal(0);
      const small = `x="${x - 2}" y="${y - 2}" width="4" height="4"`;
      expect(outside(`<rect ${small} transform="rotate(45 ${x} ${y})"/>`), `${x} ${y}`).to.equal(1);
    }
  });

  it("is judged by its width, height, centre and radii", () => {
    for (const shape of [
      '<rect x="-15" y="40" width="20" height="10"/>',
      '<rect x="40" y="-15" width="10" height="20"/>',
      '<circle cx="-15" cy="50" r="20"/>',
      '<circle cx="50" cy="-15" r="20"/>',
      '<ellipse cx="-15" cy="50" rx="20" ry="5"/>',
      '<ellipse cx="50" cy="-15" rx="5" ry="20"/>',
      '<line x1="150" y1="150" x2="50" y2="50"/>',
      '<line x1="50" y1="50" x2="150" y2="150"/>',
    ])
      expect(outside(shape), shape).to.equal(0);
    for (const shape of [
      '<ellipse cx="50" cy="140" rx="5" ry="5"/>',
      '<ellipse cx="140" cy="50" rx="5" ry="5"/>',
      '<line x1="50" y1="120" x2="50" y2="130"/>',
      '<line x1="120" y1="50" x2="130" y2="50"/>',
    ])
      expect(outside(shape), shape).to.equal(1);
  });

  it("is judged by its points, which may be written in every notation of numbers", () => {
    const tall = 'viewBox="0 0 100 200"';
    for (const points of [
      ...["120,5 130,5", "120 5 130 5", "120,5 130,5 140", "120.255,5 130.255,5"],
      ...["12e1,5 13e1,5", "12e+1,5 13e+1,5", "1200e-1,5 1300e-1,5", "12e01,5 13E01,5", "120.,5 130.,5"],
    ]) {
      expect(outside(`<polygon points="${points}"/>`, tall), points).to.equal(1);
      expect(outside(`<polyline points="${points}"/>`, tall), points).to.equal(1);
    }
    expect(outside('<polygon points=".255,150 .355,150"/>')).to.equal(1);
    for (const points of ["120,50 50,50", "50,50 120,50", "-120,50 -50-50 50,50"])
      expect(outside(`<polygon points="${points}"/>`), points).to.equal(0);
  });

  it("is judged by its numbers, but not by lengths in other units", () => {
    for (const number of [
      "150",
      " 150",
      "150 ",
      "150px",
      "+150",
      "15e1",
      "15e+1",
      "1500e-1",
      "15E01",
      "150.",
    ])
      expect(outside(`<circle cx="${number}" cy="50" r="5"/>`), number).to.equal(1);
    for (const number of ["150cm", "150%", "150 5", "a150", "150px5", "auto", "15e", ""])
      expect(outside(`<circle cx="${number}" cy="50" r="5"/>`), number).to.equal(0);
    expect(outside('<circle cx="50cm" cy="150" r="5"/>'), "its other coordinate is a number").to.equal(0);
    expect(outside('<line x1="5cm" y1="150" x2="5" y2="160"/>')).to.equal(0);
    expect(outside('<line x1="5" y1="150" x2="5cm" y2="160"/>')).to.equal(0);
    expect(outside('<circle cx="1e999" cy="50" r="5"/>'), "no finite number").to.equal(0);
    expect(outside('<line x1="1e999" y1="50" x2="150" y2="50"/>')).to.equal(0);
    expect(read('<path d="l"/>'), "a path without points").to.include({ visible: 1, outside: 0, steps: 0 });
  });

  it("is not judged in a picture of unknown size", () => {
    const [right, below] = ['<circle cx="150" cy="50" r="5"/>', '<circle cx="50" cy="150" r="5"/>'];
    for (const root of [
      ...['width="100" height="100"', 'width=" 100 " height="100px"', 'width="1e2" height="+100"'],
      'viewBox="0, 0, 100, 100"',
    ]) {
      expect([outside(right, root), outside(below, root)], root).to.deep.equal([1, 1]);
      expect(outside('<circle cx="50" cy="50" r="5"/>', root), root).to.equal(0);
      expect(read("", root).hasSize, root).to.equal(true);
    }
    for (const root of [
      ...['width="100 5" height="100"', 'width="100" height="100 5"', 'width="0" height="5"'],
      ...['width="100cm" height="100"', 'width="100px5" height="100"', ""],
    ])
      expect([outside(right, root), outside(below, root)], root).to.deep.equal([0, 0]);
  });
});

describe("a shape that can be seen", () => {
  it("has an extent, and a colour that does not let everything through", () => {
    for (const shape of [
      ...['<line y2="5"/>', '<line x1="5"/>', '<path d="M18 6 6 18"/>', '<path d="M1 1M18 6 6 18"/>'],
      ...['<g stroke="red"><path fill="none" d="M0 0h5"/></g>', '<circle r="5" style="r:"/>'],
      ...['<circle r="5" style=":none"/>', '<circle r="5" fill-opacity="0" stroke="red"/>'],
      ...["#fff", "#f00", "#f0", "#ff0000", "#ffff0", "#00000001", "#0001", "nonesuch", "is-none"].map(
        (fill) => `<circle r="5" fill="${fill}"/>`,
      ),
    ])
      expect(read(shape).visible, shape).to.equal(1);
    for (const shape of [
      ...[
        '<path d="M1 2M3 4"/>',
        '<path d="M18 6 6"/>',
        '<g stroke="none"><path fill="none" d="M0 0h5"/></g>',
      ],
      ...['<circle r="5" fill-opacity="0"/>', '<circle r="5" style=" display : none "/>'],
      '<path d="M0 0h5" fill="none" stroke="red" stroke-opacity="0"/>',
      ...["none", "NONE", " none ", "transparent", "#fff0", "#1110", "#ffffff00", "#12345600"].map(
        (fill) => `<circle r="5" fill="${fill}"/>`,
      ),
    ])
      expect(read(shape).visible, shape).to.equal(0);
  });

  it("counts the steps of its path or its points, half of their numbers", () => {
    for (const [shape, steps] of [
      ['<path d="M0 0L5 5L10 10"/>', 3],
      ['<path d="M 1 1 L 2 2"/>', 2],
      ['<path d="M1.5.5l5 5h1"/>', 2],
      ['<polygon points="0,0 5,5 9,0"/>', 3],
      ['<polyline points="0,0 5,5"/>', 2],
      ['<rect width="5" height="5" d="M0 0L5 5" points="1 1 2 2"/>', 0],
      ['<path d="M0 0L5 5" points="1 1 2 2"/>', 2],
      ['<polygon points="1 1 2 2" d="M0 0L5 5"/>', 2],
    ] as const)
      expect(read(shape).steps, shape).to.equal(steps);
  });

  it("stands in at most 256 elements that contain one another", () => {
    const nested = (levels: number) => read("<g>".repeat(levels) + "</g>".repeat(levels));
    expect(nested(255).visible).to.equal(0);
    expect(() => nested(256)).to.throw("is nested deeper than 256 elements");
  });
});

describe("a drawing that runs nothing", () => {
  it("has no element, animation or address that does", () => {
    for (const [inside, part] of [
      ['<a href="https://a.example/#a"/>', "the address https://a.example/#a"],
      ['<set attributeName=" href "/>', "an animation of  href "],
      [`<set attributeName="${"x".repeat(90)}:href"/>`, `an animation of ${"x".repeat(80)}`],
      ['<animateMotion attributeName="x:onload"/>', "an animation of x:onload"],
      ["<rect style=\"fill: src('x')\"/>", "src( in a style"],
      ['<rect style="fill: \\41"/>', "\\ in a style"],
      ['<rect cursor="\\url(https://a.example/)"/>', "the address in cursor"],
      ['<style>a{b:image-set ("x" 1x)}</style>', "image-set ( in a style"],
      ['<style>a{b:image-set("x" 1x)}</style>', "image-set( in a style"],
      ['<style>a{b:src("x")}</style>', "src( in a style"],
      ['<style>a{b:src ("x")}</style>', "src ( in a style"],
      ["<style>a{}</style><style>@import x</style>", "@import in a style"],
      ["<g/><style>@import x</style>", "@import in a style"],
      ["<style>@im<style></style>port x</style>", "@import in a style"],
      ["<style>@im<!-- -->port x</style>", "@import in a style"],
    ] as const)
      expect(read(inside).active, inside).to.equal(part);
    for (const inside of [
      ...["<myscript/>", '<reset attributeName="href"/>', '<settings attributeName="href"/>', "<set/>"],
      ...['<set attributeName="href2"/>', '<set attributeName="xhref"/>', '<g attributeName="href"/>'],
      ...["<text>@import x</text><style>a{}</style>", "<style>a{}</style><text>@import x</text>"],
      ...["<style>a{b:xsrc(x)}</style>", "<style>a{b:src}</style>"],
    ])
      expect(read(inside).active, inside).to.equal(undefined);
    for (const target of ["php", "xml-stylesheets", "my-xml-stylesheet"])
      expect(readSvg(`<?${target} x?>${document("")}`).active, target).to.equal(undefined);
    expect(readSvg(`<?XML-stylesheet x?>${document("")}`).active).to.equal("a style sheet from elsewhere");
  });
});
