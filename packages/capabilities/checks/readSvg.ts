import { SaxesParser, type SaxesTagNS } from "saxes";
import { apply, IDENTITY, type Matrix, multiply, readTransform } from "./svgMatrix.ts";
import { isPathData, pathPoints } from "./svgPath.ts";
import { referencesIn, svgReferences } from "./svgReferences.ts";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const HTML_NAMESPACE = "http://www.w3.org/1999/xhtml";
const SHAPES = new Set(["path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "use"]);
/** Elements whose content is not drawn at its place. */
const UNSHOWN = new Set([
  "defs",
  "symbol",
  "clipPath",
  "mask",
  "pattern",
  "marker",
  "linearGradient",
  "radialGradient",
]);

/** Elements whose `href` only points to an element and does not draw it: links and animations. */
const POINTERS = new Set(
  "a set discard mpath animate animateColor animateMotion animateTransform".split(" "),
);

/** The contents of an SVG document. */
export type SvgContents = {
  /** Shapes that are drawn and can be seen. */
  visible: number;
  /** The lines and curves of the visible paths and polygons. */
  steps: number;
  /** The number of these shapes that are completely outside of the picture. */
  outside: number;
  /**
   * The number of paths in the text, or the number that is drawn with all references, whichever is larger.
   */
  paths: number;
  /** How many shapes are drawn in addition to those in the text, because references repeat them. */
  repeated: number;
  hasSize: boolean;
  /** The first part (element, attribute or document type) that runs code or loads something. */
  active: string | undefined;
  /** The first path or number that is malformed. */
  malformed: string | undefined;
};

/** The deepest nesting of elements. An XML reader looks for a prefix on every level, so depth multiplies the cost. */
const MAX_DEPTH = 256;

type Box = { left: number; top: number; right: number; bottom: number };
type Inherited = {
  /** Whether a shape is filled, and whether it has a line around it. */
  isFilled: boolean;
  isStroked: boolean;
  shown: boolean;
  /** Undefined inside an element with an unknown transform. There a shape may be anywhere. */
  matrix: Matrix | undefined;
};
type Attributes = { [name: string]: string };

/**
 * Reads an SVG document (SVG 2). Entities are not expanded and nothing is loaded.
 *
 * @throws Error when it is not well-formed XML or its root is not `svg`
 */
export function readSvg(text: string): SvgContents {
  const contents: SvgContents = {
    visible: 0,
    steps: 0,
    outside: 0,
    paths: 0,
    repeated: 0,
    hasSize: false,
    active: undefined,
    malformed: undefined,
  };
  const stack: Inherited[] = [];
  const references = svgReferences();
  /** The `use` elements that were counted as visible, by their numbers in `references`. */
  const uses: number[] = [];
  let written = 0;
  let frame: Box | undefined;
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", (error) => {
    throw new Error(`is no well-formed XML: ${error.message}`);
  });
  parser.on("processinginstruction", ({ target }) => {
    if (/^xml-stylesheet$/i.test(target)) contents.active ??= "a style sheet from elsewhere";
  });
  /** The open `style` elements, and their text. A comment may divide a word of it. */
  let [styles, css] = [0, ""];
  const onStyle = (text: string): void => {
    if (styles > 0) css += text;
  };
  parser.on("text", onStyle);
  parser.on("cdata", onStyle);
  parser.on("doctype", (doctype) => {
    if (doctype.includes("[")) contents.active ??= "a document type with entities";
  });
  parser.on("opentag", (tag) => {
    const attributes = plainAttributes(tag);
    if (stack.length >= MAX_DEPTH) throw new Error(`is nested deeper than ${MAX_DEPTH} elements`);
    if (stack.length === 0) frame = readRoot(tag, attributes, contents);
    if (tag.uri === HTML_NAMESPACE) contents.active ??= `the HTML element ${tag.local}`;
    if (tag.local === "style") styles++;
    const isShape = SHAPES.has(tag.local) && tag.local !== "use";
    if (isShape) written++;
    const own = { shapes: isShape ? 1 : 0, paths: tag.local === "path" ? 1 : 0 };
    const at = references.open(own, attributes.id, referencesIn(attributes, !POINTERS.has(tag.local)));
    const before = contents.visible;
    stack.push(readElement(tag.local, attributes, stack.at(-1), contents, frame));
    if (tag.local === "use" && contents.visible > before) uses.push(at);
  });
  parser.on("closetag", (tag) => {
    if (tag.local === "style" && --styles === 0) {
      contents.active ??= activeStyle(css);
      css = "";
    }
    stack.pop();
    references.close();
  });
  parser.write(text).close();
  const drawn = references.drawn(0);
  contents.paths = Math.max(contents.paths, drawn.paths);
  contents.repeated = Math.max(0, drawn.shapes - written);
  // A reference without a drawn target shows nothing.
  for (const at of uses) if (references.drawn(at).shapes === 0) contents.visible--;
  return contents;
}

/** Attributes that no style can set. In a style their names mean nothing. */
const UNSTYLED = /^(?:style|id|href|attributename|points|viewbox|[xy][12])$/i;

/**
 * The attributes that a browser reads, with the properties of the style. An attribute of another namespace means nothing,
 * except `xlink:href`, which is the `href` where there is no other.
 */
function plainAttributes(tag: SaxesTagNS): Attributes {
  const attributes: Attributes = {};
  const all = Object.values(tag.attributes);
  for (const { local, uri, value } of all)
    if (uri !== "" && local === "href") attributes["xlink:href"] = attributes.href = value;
  for (const { local, uri, value } of all) if (uri === "") attributes[local] = value;
  for (const declaration of (attributes.style ?? "").split(";")) {
    const [name, value] = declaration.split(":").map((part) => part.trim());
    if (name && value && !UNSTYLED.test(name)) attributes[name] = value;
  }
  return attributes;
}

function readRoot(
  { local, uri }: SaxesTagNS,
  attributes: Attributes,
  contents: SvgContents,
): Box | undefined {
  if (local !== "svg" || uri !== SVG_NAMESPACE) throw new Error("does not begin with an svg element");
  const box = (attributes.viewBox ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const hasBox = box.length === 4 && box.every(Number.isFinite) && (box[2] ?? 0) > 0 && (box[3] ?? 0) > 0;
  const isLength = (length: string | undefined): boolean => Number.parseFloat(length ?? "") > 0;
  const isInPixels = (length: string | undefined): boolean =>
    /^[\d.+e]+(?:px)?$/i.test((length ?? "").trim());
  contents.hasSize = hasBox || (isLength(attributes.width) && isLength(attributes.height));
  if (!contents.hasSize) return undefined;
  // "100%" and "10cm" are not numbers of pixels, so the frame is unknown.
  if (!hasBox && !(isInPixels(attributes.width) && isInPixels(attributes.height))) return undefined;
  const [left = 0, top = 0, width = 0, height = 0] = hasBox
    ? box
    : [0, 0, Number.parseFloat(attributes.width ?? ""), Number.parseFloat(attributes.height ?? "")];
  return { left, top, right: left + width, bottom: top + height };
}

function readElement(
  name: string,
  attributes: Attributes,
  parent: Inherited | undefined,
  contents: SvgContents,
  frame: Box | undefined,
): Inherited {
  contents.active ??= activePart(name, attributes);
  contents.malformed ??= malformedPart(name, attributes);
  const isRoot = parent === undefined;
  const isFollowed = isRoot || (name !== "svg" && attributes["transform-origin"] === undefined);
  const step = isFollowed ? readTransform(isRoot ? "" : (attributes.transform ?? "")) : undefined;
  const before = isRoot ? IDENTITY : parent.matrix;
  const own: Inherited = {
    matrix: step && before && multiply(before, step),
    isFilled: attributes.fill === undefined ? (parent?.isFilled ?? true) : !isClear(attributes.fill),
    isStroked: attributes.stroke === undefined ? (parent?.isStroked ?? false) : !isClear(attributes.stroke),
    shown: (parent?.shown ?? true) && !UNSHOWN.has(name) && !isHidden(attributes),
  };
  if (name === "path") contents.paths++;
  const isPainted =
    (own.isFilled && !isZero(attributes["fill-opacity"])) ||
    (own.isStroked && !isZero(attributes["stroke-opacity"]));
  if (SHAPES.has(name) && own.shown && isPainted && hasExtent(name, attributes)) {
    contents.visible++;
    if (name === "path") contents.steps += stepsOf(attributes.d);
    if (name === "polygon" || name === "polyline") contents.steps += stepsOf(attributes.points);
    if (own.matrix && frame && isOutside(name, attributes, own.matrix, frame)) contents.outside++;
  }
  return own;
}

/**
 * Whether a shape is completely outside of the frame. Texts, references and lengths in other units are not
 * judged.
 */
function isOutside(name: string, attributes: Attributes, matrix: Matrix, frame: Box): boolean {
  const points = cornersOf(name, attributes);
  if (!points || points.length === 0) return false;
  const moved = points.map(([x, y]) => apply(matrix, x, y));
  if (moved.some((point) => !point.every(Number.isFinite))) return false;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of moved) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  // Curves and wide strokes extend a little beyond the points.
  const reach = 0.25 * Math.max(right - left, bottom - top);
  return (
    left - reach > frame.right ||
    right + reach < frame.left ||
    top - reach > frame.bottom ||
    bottom + reach < frame.top
  );
}

function cornersOf(name: string, attributes: Attributes): [number, number][] | undefined {
  const number = (attribute: string): number => {
    const text = attributes[attribute] ?? "0";
    return /^\s{0,9}[-+]?[\d.]+(?:e[-+]?\d+)?(?:px)?\s{0,9}$/i.test(text)
      ? Number.parseFloat(text)
      : Number.NaN;
  };
  const around = (x: number, y: number, wide: number, high: number): [number, number][] => [
    [x - wide, y - high],
    [x + wide, y - high],
    [x - wide, y + high],
    [x + wide, y + high],
  ];
  switch (name) {
    case "rect": {
      const [wide, high] = [number("width") / 2, number("height") / 2];
      return around(number("x") + wide, number("y") + high, wide, high);
    }
    case "circle":
      return around(number("cx"), number("cy"), number("r"), number("r"));
    case "ellipse":
      return around(number("cx"), number("cy"), number("rx"), number("ry"));
    case "line":
      return [
        [number("x1"), number("y1")],
        [number("x2"), number("y2")],
      ];
    case "polyline":
    case "polygon": {
      const values = coordinatesOf(attributes.points);
      return values.flatMap((x, at) =>
        at % 2 === 0 && at + 1 < values.length ? [[x, values[at + 1] as number]] : [],
      );
    }
    case "path":
      return pathPoints(attributes.d ?? "");
    default:
      return undefined;
  }
}

/** The numbers of a list of points. They need nothing between them: `1-2.5.5` are 1, -2.5 and .5. */
function coordinatesOf(points = ""): number[] {
  return points.match(/[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?/gi)?.map(Number) ?? [];
}

function activePart(name: string, attributes: Attributes): string | undefined {
  if (/^(script|foreignObject|iframe|object|embed|audio|video)$/i.test(name)) return `a ${name} element`;
  const isAnimation = /^(set|animate\w{0,20})$/i.test(name);
  if (isAnimation && /(?:^|:)(?:href|on\w{1,40})$/i.test((attributes.attributeName ?? "").trim())) {
    return `an animation of ${attributes.attributeName?.slice(0, 80)}`;
  }
  for (const [attribute, value] of Object.entries(attributes)) {
    if (/^on/i.test(attribute)) return `the attribute ${attribute}`;
    if (attribute === "href" || attribute === "xlink:href") {
      if (!/^(#|data:image\/(png|jpeg|gif|webp);base64,)/i.test(value.trim()))
        return `the address ${value.slice(0, 80)}`;
    } else {
      const plain = withoutEscapes(value);
      if (IMAGE_SET.test(plain) || FOREIGN_URL.test(plain)) return `the address in ${attribute}`;
    }
  }
  return activeStyle(attributes.style ?? "");
}

/** An address in CSS that is no part of the same document. It may be in quotes and between spaces. */
const FOREIGN_URL =
  /url\((?!\s{0,20}["']?\s{0,20}(?:#|data:(?:image\/(?:png|jpeg|gif|webp)|font\/|application\/(?:x-)?font)))/i;

/** A function of CSS that takes an address without `url(`. */
const IMAGE_SET = /image-set\s{0,9}\(/i;

/** A value of CSS with the characters that its escapes mean: `\75rl(` is `url(`. A label may contain a backslash. */
function withoutEscapes(value: string): string {
  if (!value.includes("\\")) return value;
  return value.replace(/\\(?:([\da-f]{1,6})\s?|(.))/gisu, (_, hex?: string, other?: string) =>
    hex === undefined ? (other ?? "") : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff)),
  );
}

/** The first part of a style sheet that may load something. An escape could hide such a part. */
function activeStyle(css: string): string | undefined {
  const found = /@import|image-set\s{0,9}\(|\bsrc\s{0,9}\(|\\/i.exec(css)?.[0] ?? FOREIGN_URL.exec(css)?.[0];
  return found === undefined ? undefined : `${found} in a style`;
}

/** Attributes that are geometry or colour. A name or a label may contain the word Infinity. */
const DRAWN =
  /^(?:d|points|viewBox|(?:gradient|pattern)?transform|[xycr]|[xy][12]|[cfr][xy]|d[xy]|width|height|offset|fill|stroke|(?:stroke|fill|stop|font)-(?!family).{1,20}|opacity|rotate|style|values|to|from)$/i;

function malformedPart(name: string, attributes: Attributes): string | undefined {
  for (const [attribute, value] of Object.entries(attributes)) {
    if (!DRAWN.test(attribute) || /url\(/i.test(value)) continue;
    if (/(?:^|[^\p{L}])(?:NaN|undefined|Infinity)(?:$|[^\p{L}])/u.test(value))
      return `${attribute}="${value.slice(0, 80)}"`;
  }
  if (name !== "path" || attributes.d === undefined || isPathData(attributes.d)) return undefined;
  return `d="${attributes.d.slice(0, 80)}"`;
}

/** Whether a colour is none, or lets everything through. */
function isClear(colour: string): boolean {
  return /^(?:none|transparent|#[\da-f]{3}0|#[\da-f]{6}00)$/i.test(colour.trim());
}

function isZero(opacity = "1"): boolean {
  return Number.parseFloat(opacity) === 0;
}

/** Whether a path goes anywhere. Further pairs of numbers after a move are lines: `M18 6 6 18`. */
function drawsLine(data: string): boolean {
  return /[lhvcsqta]/i.test(data) || data.split(/m/i).some((part) => coordinatesOf(part).length >= 4);
}

/** About how many lines and curves a path or a list of points has: half of its numbers. */
function stepsOf(data = ""): number {
  return Math.floor((data.match(/\d[\d.]*/g)?.length ?? 0) / 2);
}

function isHidden({ display, visibility, opacity }: Attributes): boolean {
  return display === "none" || visibility === "hidden" || isZero(opacity);
}

/** Whether a shape covers anything at all. */
function hasExtent(name: string, attributes: Attributes): boolean {
  const number = (attribute: string): number => Number.parseFloat(attributes[attribute] ?? "0");
  switch (name) {
    case "rect":
      return number("width") > 0 && number("height") > 0;
    case "circle":
      return number("r") > 0;
    case "ellipse":
      return number("rx") > 0 && number("ry") > 0;
    case "line":
      return number("x1") !== number("x2") || number("y1") !== number("y2");
    case "polyline":
    case "polygon":
      return coordinatesOf(attributes.points).length >= 4;
    case "path":
      return drawsLine(attributes.d ?? "");
    default:
      return true;
  }
}
