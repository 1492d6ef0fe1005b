import { readSvg, type SvgContents } from "../checks/readSvg.ts";
import { type CheckContext, defineCapability } from "../defineCapability.ts";

type Context = CheckContext<unknown, { svg: string }>;

const contentsOf = ({ output, once }: Context): SvgContents => once("svg", () => readSvg(output.svg));

/** The most shapes that references (`use`) may draw in addition to the shapes that are written in the SVG. */
const MAX_REPEATED = 20_000;

/** At least this many lines and curves are a drawing, even if they are one path. */
const MANY_STEPS = 16;
/**
 * If the buyer allows only one path, a single shape needs at least this many lines and curves. They are counted as half
 * of the numbers in a path or polygon, rounded down: `M0 0h1` has three numbers and counts as one line, `M0 0L5 5` has
 * four and counts as two.
 */
const FEW_STEPS = 2;

/** `image.generate.illustration.svg`: a drawing as SVG. It is safe for any browser to show the drawing. */
export const imageGenerateIllustrationSvg = defineCapability({
  id: "image.generate.illustration.svg",
  summary: "a drawing, as SVG",
  input: {
    type: "object",
    properties: {
      prompt: { type: "string", minLength: 1, maxLength: 4000 },
      max_paths: { type: "integer", minimum: 1, maximum: 100_000 },
    },
    required: ["prompt"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { svg: { type: "string", minLength: 1, maxLength: 1_000_000 } },
    required: ["svg"],
  },
  checks: {
    is_svg: {
      since: "v0",
      test: (context) => {
        contentsOf(context);
        return undefined;
      },
    },
    draws_something: {
      since: "v0",
      test: (context) => (contentsOf(context).visible > 0 ? undefined : "has no shape that can be seen"),
    },
    has_few_enough_paths: {
      since: "v0",
      test: (context) => {
        const { paths } = contentsOf(context);
        const most = context.input.max_paths ?? Number.POSITIVE_INFINITY;
        return paths <= most ? undefined : `has ${paths} paths, and at most ${most} are allowed`;
      },
    },
    is_inert: {
      since: "v0",
      test: (context) => {
        const { active, repeated } = contentsOf(context);
        if (active !== undefined) return `contains ${active}`;
        // A few hundred bytes of references can keep a viewer busy for hours.
        return repeated <= MAX_REPEATED ? undefined : `draws ${repeated} shapes or more by references`;
      },
    },
    has_size: {
      since: "v1",
      test: (context) =>
        contentsOf(context).hasSize ? undefined : "has neither viewBox nor width and height",
    },
    is_well_drawn: {
      since: "v1",
      test: (context) => {
        const { malformed } = contentsOf(context);
        return malformed === undefined ? undefined : `contains ${malformed}`;
      },
    },
    lies_in_its_frame: {
      since: "v1",
      test: (context) => {
        const { visible, outside } = contentsOf(context);
        return visible > 0 && 2 * outside >= visible
          ? `draws ${outside} of its ${visible} shapes outside of the picture`
          : undefined;
      },
    },
    is_an_illustration: {
      since: "v1",
      test: (context) => {
        const { visible: all, outside, steps } = contentsOf(context);
        const visible = all - outside;
        // One path can be a whole drawing, and the buyer may allow fewer than three paths. But a single `rect` or
        // `circle` is not a drawing.
        const isAllowedWhole =
          visible >= (context.input.max_paths ?? 3) && (visible >= 2 || steps >= FEW_STEPS);
        const isEnough = visible >= 3 || isAllowedWhole || steps >= MANY_STEPS;
        return isEnough ? undefined : `has too few shapes for an illustration: ${visible}`;
      },
    },
  },
});
