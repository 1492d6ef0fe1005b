import { seededRandom } from "tallystick-runtime/seededRandom";
import { Canvas, circle, hex, line, mix, rectangle } from "../../../tools/samples/canvas.ts";
import { type ChartRequest, drawChart } from "../../../tools/samples/charts.ts";
import { blank, noise } from "../../../tools/samples/damage.ts";
import type { Fake } from "./fake.ts";

const revenue: ChartRequest = {
  chart_type: "bar",
  width: 240,
  height: 160,
  data: [1200, 1850, 640, 2210].map((y, at) => ({ x: `Q${at + 1}`, y })),
};
const wave: ChartRequest = {
  chart_type: "line",
  width: 240,
  height: 160,
  data: [3, 9, 4, 12, 5, 14, 2, 8].map((y, at) => ({ x: at, y })),
};
const shares: ChartRequest = {
  chart_type: "pie",
  width: 220,
  height: 160,
  data: [55, 25, 15, 5].map((y, at) => ({ x: `S${at}`, y })),
};
const long: ChartRequest = {
  ...revenue,
  data: Array.from({ length: 500 }, (_, at) => ({ x: at, y: 50 + 40 * Math.sin(at / 30) })),
};

const withData = (request: ChartRequest, values: number[]): ChartRequest => ({
  ...request,
  data: values.map((y, at) => ({ x: at, y })),
});

/** A fake chart that a seller sends as the answer to `asked`. */
function chart(
  name: string,
  asked: ChartRequest,
  png: Uint8Array,
  verdict: Fake["verdict"] = "refused",
): Fake {
  const { width, height, chart_type } = asked;
  const image_b64 = Buffer.from(png).toString("base64");
  const output = { image_b64, width, height, chart_type };
  return { name, id: "chart.generate.from-data", params: asked, output, verdict };
}
const drawn = (request: ChartRequest): Uint8Array => drawChart(request).png();
const white = hex("#ffffff");
const disc = new Canvas(220, 160, white).paint(circle(90, 80, 65), hex("#dc3912")).png();

function illustration(name: string, png: Uint8Array, verdict: Fake["verdict"] = "refused"): Fake {
  const params = { prompt: "a house by the sea", width: 128, height: 128 };
  const output = { image_b64: Buffer.from(png).toString("base64") };
  return { name, id: "image.generate.illustration.png", params, output, verdict };
}
function photo(name: string, png: Uint8Array, verdict: Fake["verdict"] = "refused"): Fake {
  const output = { image_b64: Buffer.from(png).toString("base64"), width: 128, height: 128 };
  const params = { prompt: "a house by the sea", width: 128, height: 128 };
  return { name, id: "image.generate.photorealistic.png", params, output, verdict };
}
const random = seededRandom(11);
const blotches = new Canvas(128, 128, (x, y) => [
  0.5 + 0.4 * Math.sin(x / 9 + y / 30),
  0.5 + 0.4 * Math.cos(y / 7),
  (x > 64 ? 0.2 : 0.5) + 0.2 * random(),
]);

const svg = (
  name: string,
  inner: string,
  verdict: Fake["verdict"] = "refused",
  box = "0 0 100 100",
): Fake => ({
  name,
  id: "image.generate.illustration.svg",
  params: { prompt: "a flower" },
  output: { svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}">${inner}</svg>` },
  verdict,
});
/** An SVG bomb: ten groups. Each group draws the previous group ten times. */
const bomb = (link: (name: string) => string): string =>
  `<g id="s0"><rect width="1" height="1"/></g>${Array.from({ length: 9 }, (_, at) => `<g id="s${at + 1}">${`<use ${link(`s${at}`)}/>`.repeat(10)}</g>`).join("")}`;
const shapes =
  '<circle cx="20" cy="20" r="9" fill="red"/><rect x="40" y="40" width="9" height="9" fill="blue"/><path d="M1 1 h9 v9 z" fill="green"/>';

export const pictureFakes: Fake[] = [
  chart("bars for other data", revenue, drawn(withData(revenue, [2210, 640, 1850, 200]))),
  chart(
    "seven bars for four values",
    revenue,
    drawn(withData(revenue, [1200, 1850, 640, 2210, 300, 900, 1500])),
  ),
  chart("three bars for four values", revenue, drawn(withData(revenue, [1200, 1850, 2210]))),
  chart("bars in the reverse order", revenue, drawn(withData(revenue, [2210, 640, 1850, 1200]))),
  chart("one bar of a wrong length", revenue, drawn(withData(revenue, [1200, 1850, 1800, 2210]))),
  chart(
    "any small bars beside a large one",
    withData(revenue, [1000, 50, 60, 70, 40]),
    drawn(withData(revenue, [1000, 400, 800, 300, 600])),
  ),
  chart("four bars for 500 points", long, drawn({ ...revenue, ...withData(revenue, [20, 50, 90, 60]) })),
  chart("a red disc as a pie", shares, disc),
  chart("a red disc as bars", { ...revenue, width: 220 }, disc),
  chart("a red disc as a line", { ...wave, width: 220 }, disc),
  chart("bars sold as a pie", { ...shares, width: 240 }, drawn({ ...shares, width: 240, chart_type: "bar" })),
  chart("bars sold as a line", wave, drawn({ ...wave, chart_type: "bar" })),
  chart("a pie sold as bars", { ...revenue, width: 220 }, drawn({ ...shares, chart_type: "pie" })),
  chart("a line sold as bars", { ...wave, chart_type: "bar" }, drawn(wave)),
  chart("a line for other data", wave, drawn(withData(wave, [14, 2, 11, 3, 9, 1, 12, 4]))),
  chart("a straight line", wave, drawn(withData(wave, [1, 2, 3, 4, 5, 6, 7, 8]))),
  chart("a pie of equal slices", shares, drawn(withData(shares, [25, 25, 25, 25]))),
  chart("a pie of two slices for four", shares, drawn(withData(shares, [60, 40]))),
  chart("all bars equal", revenue, drawn(withData(revenue, [5, 5, 5, 5]))),
  chart("only the axes", revenue, drawChart(revenue, { withSeries: false }).png()),
  chart("noise", revenue, noise(240, 160, 3)),
  chart("nothing", revenue, blank(240, 160, "#ffffff")),
  chart("the right bars under another title", revenue, drawn({ ...revenue, title: "COSTS" }), "passes"),
  chart("one bar for another single value", withData(revenue, [7]), drawn(withData(revenue, [9])), "passes"),
  illustration("one colour", blank(128, 128, "#88aacc")),
  illustration("noise", noise(128, 128, 5)),
  illustration("a small dot", new Canvas(128, 128, white).paint(circle(64, 64, 3), hex("#ff0000")).png()),
  illustration("a line", new Canvas(128, 128, white).paint(line(0, 64, 128, 64, 2), hex("#000000")).png()),
  illustration(
    "a drawing of something else",
    new Canvas(128, 128, white)
      .paint(circle(40, 40, 30), hex("#cc3333"))
      .paint(rectangle(60, 60, 110, 120), hex("#3366cc"))
      .paint(line(5, 100, 60, 120, 5), hex("#22aa44"))
      .png(),
    "passes",
  ),
  photo("one colour", blank(128, 128, "#88aacc")),
  photo("pure noise", noise(128, 128, 6)),
  photo("a smooth gradient", new Canvas(128, 128, (x) => mix(white, hex("#3366aa"), x / 128)).png()),
  photo(
    "a drawing of flat colours",
    new Canvas(128, 128, white).paint(circle(60, 60, 40), hex("#ff0000")).png(),
  ),
  photo("soft noise with edges", blotches.png(), "passes"),
  svg("drawn completely outside of its frame", `<g transform="translate(500 500)">${shapes}</g>`),
  svg(
    "drawn outside by coordinates",
    shapes
      .replaceAll(/c([xy])="\d+"/g, 'c$1="900"')
      .replaceAll(/ ([xy])="40"/g, ' $1="-400"')
      .replace("M1 1", "M-700 -700"),
  ),
  svg("a frame far from its shapes", shapes, "refused", "5000 5000 10 10"),
  svg("nothing drawn", "<g/>"),
  svg("shapes of no size", '<rect width="0" height="0"/><circle r="0"/><path d="M1 1"/>'),
  svg("hidden by opacity", `<g opacity="0">${shapes}</g>`),
  svg("hidden by display", `<g style="display:none">${shapes}</g>`),
  svg("only in definitions", `<defs>${shapes}</defs>`),
  svg("a script", `${shapes}<script>alert(1)</script>`),
  svg("a picture from elsewhere", `${shapes}<image href="https://evil.example/a.png"/>`),
  svg("a handler", shapes.replace("<circle", '<circle onclick="x()"')),
  svg("a style sheet from elsewhere", `<style>@import url(https://evil.example/a.css);</style>${shapes}`),
  svg("an import that a comment divides", `<style>@imp<!-- -->ort "//evil.example/a.css";</style>${shapes}`),
  svg("a paint from elsewhere in a style", `<style>rect{fill:url(https://evil.example/a)}</style>${shapes}`),
  svg(
    "an address behind an escape",
    shapes.replace('fill="red"', 'style="fill:u\\72l(https://evil.example/a)"'),
  ),
  svg(
    "a picture whose address an animation sets",
    `${shapes}<image><set attributeName="href" to="https://evil.example/a.png"/></image>`,
  ),
  svg(
    "a picture of HTML",
    `${shapes}<img xmlns="http://www.w3.org/1999/xhtml" src="https://evil.example/a.png"/>`,
  ),
  svg("one shape", '<circle cx="50" cy="50" r="30" fill="red"/>'),
  svg("paths of NaN", `${shapes}<path d="MNaN NaN L1 1"/>`),
  svg("ten groups that draw a billion shapes", `${shapes}${bomb((name) => `href="#${name}"`)}`),
  svg(
    "the same with xlink",
    `${shapes}${bomb((name) => `xlink:href="#${name}" xmlns:xlink="http://www.w3.org/1999/xlink"`)}`,
  ),
  svg(
    "patterns of patterns of patterns",
    `${shapes}${Array.from({ length: 9 }, (_, at) => `<pattern id="p${at}" width="1" height="1">${`<rect width="9" height="9" fill="url(#p${at + 1})"/>`.repeat(9)}</pattern>`).join("")}<rect width="9" height="9" fill="url(#p0)"/>`,
  ),
  svg(
    "a marker at each of many points",
    `${shapes}<marker id="m">${shapes.repeat(40)}</marker><path fill="red" marker-mid="url(#m)" d="M0 0${" l1 1".repeat(500)}"/>`,
  ),
  svg(
    "references to nothing",
    '<g fill="red"><use href="#a"/></g><g fill="blue"><use href="#b"/><use href="#c"/></g>',
  ),
  svg(
    "references to one another",
    '<g id="a" fill="red"><use href="#b"/></g><g id="b" fill="blue"><use href="#a"/></g><use href="#a"/>',
  ),
  svg(
    "thousands of copies of a part that needs itself",
    `${shapes}<g id="p"><g id="c"><path d="M0 0L5 5"/><use href="#p"/></g></g>${'<use href="#p"/>'.repeat(30_000)}<g><use href="#c"/></g>`,
  ),
  svg("a drawing of something else", shapes, "passes"),
  svg("white on white", shapes.replaceAll(/fill="\w+"/g, 'fill="#fff"').replace("#fff", "#fffffe"), "passes"),
  {
    name: "one white rectangle for a buyer who wants one path",
    id: "image.generate.illustration.svg",
    params: { prompt: "a sign", max_paths: 1 },
    output: {
      svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9" fill="#fff"/></svg>',
    },
    verdict: "refused",
  },
  {
    name: "a width with very many spaces, which must not take long",
    id: "image.generate.illustration.svg",
    params: { prompt: "a sign" },
    output: {
      svg: `<svg xmlns="http://www.w3.org/2000/svg" width="1${" ".repeat(300_000)}x" height="1"></svg>`,
    },
    verdict: "refused",
  },
  ...['fill-opacity="0"', 'fill="transparent"', 'fill=" #0000 "', 'fill="#ffffff00"'].map((paint) =>
    svg(`three rectangles with ${paint}`, `<rect width="9" height="9" ${paint}/>`.repeat(3)),
  ),
  svg("three paths that go nowhere", '<path d="M1 1z"/>'.repeat(3)),
  {
    name: "one short line for a buyer who wants one path",
    id: "image.generate.illustration.svg",
    params: { prompt: "a sign", max_paths: 1 },
    output: {
      svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h1"/></svg>',
    },
    verdict: "refused",
  },
];
