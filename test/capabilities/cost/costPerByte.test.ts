import { expect } from "chai";
import { loadCatalogue } from "tallystick-capabilities/catalogue";
import { checkInput } from "tallystick-capabilities/checkInput";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { InvalidInputError } from "tallystick-protocol/errors";
import { seededRandom } from "tallystick-runtime/seededRandom";
import { readSamples } from "../../../tools/samples/readSamples.ts";
import { FRAGMENTS, placesIn, withHostile } from "./hostileValues.ts";

/** `COST_RUNS=1` tries every fragment at every place. Otherwise the seed chooses a few fragments for each place. */
const isLong = process.env.COST_RUNS !== undefined;
const seed = Number(process.env.COST_SEED ?? 20261122);
const random = seededRandom(seed);

const LETTERS = 64_000;
/** Milliseconds of processor time. Smaller costs are ignored. */
const CHEAP_MS = 120;
/** For input of eight times the size, the cost may be 16 times as high, plus 60 ms. A quadratic check costs 64 times as much. */
const [TIMES, ROOM_MS] = [16, 60];

/** The processor time of this process for some work. Other processes of the machine do not change it. */
async function costOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function expectLinear(what: string, runWith: (letters: number) => () => unknown): Promise<void> {
  const large = runWith(LETTERS);
  if ((await costOf(large)) <= CHEAP_MS) return;
  const small = runWith(LETTERS / 8);
  // The lowest of three measurements, because a garbage collection may happen during any of them.
  const least = async (run: () => unknown) =>
    Math.min(await costOf(run), await costOf(run), await costOf(run));
  const [few, many] = [await least(small), await least(large)];
  expect(many, `${what}: ${few} ms for ${LETTERS / 8} letters (seed ${seed})`).to.be.at.most(
    TIMES * few + ROOM_MS,
  );
}

function fragments(): string[] {
  if (isLong) return [...FRAGMENTS];
  const pick = (): string => FRAGMENTS[Math.floor(random() * FRAGMENTS.length)] as string;
  return [pick(), `${pick()}${pick()}`];
}

const catalogue = await loadCatalogue();
const samples = readSamples().filter(({ fails }) => fails === undefined);

describe("the processor time of a verification", function () {
  this.timeout(600_000);

  for (const capability of catalogue) {
    it(`grows at most in proportion to the size of the input: ${capability.id}`, async () => {
      const sample = samples.find(({ capability: id }) => id === capability.id);
      if (!sample) throw new Error(`${capability.id} has no sample`);
      const { id, params, output } = sample;
      const places = [
        ...placesIn(capability.input, params, ["params"]),
        ...placesIn(capability.output, output, ["output"]),
      ];
      expect(places.length).to.be.at.least(2);
      for (const place of places) {
        for (const fragment of fragments()) {
          const runWith = (letters: number) => {
            const size =
              place.kind === "text" ? Math.min(letters, place.most) : Math.min(letters, place.most * 8);
            const hostile = withHostile({ params, output }, place, fragment, size) as typeof sample;
            return async () => {
              try {
                if (place.path[0] === "params") await checkInput(id, hostile.params);
              } catch (error) {
                if (!(error instanceof InvalidInputError)) throw error;
              }
              await verifyOutput(id, hostile.params, hostile.output);
            };
          };
          await expectLinear(`${place.path.join(".")} of ${JSON.stringify(fragment)}`, runWith);
        }
      }
    });
  }

  const svg = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">${inner}</svg>`;
  const page = { url: "https://a.example/", fields: ["x"] };
  const named: { [what: string]: (letters: number) => () => unknown } = {
    "a page of tags that never end": (letters) => () =>
      verifyOutput("data.extract.from-url", page, {
        url: page.url,
        extracted: { x: "<a".repeat(letters / 2) },
        confidence: 1,
        extracted_at: "2026-01-01",
      }),
    "a drawing with nested groups": (letters) => () =>
      verifyOutput(
        "image.generate.illustration.svg",
        { prompt: "x" },
        {
          svg: svg("<g>".repeat(letters / 8) + "</g>".repeat(letters / 8)),
        },
      ),
    "a drawing that declares a prefix at each level": (letters) => () =>
      verifyOutput(
        "image.generate.illustration.svg",
        { prompt: "x" },
        {
          svg: svg(`${'<g xmlns:a="b">'.repeat(letters / 20)}${"</g>".repeat(letters / 20)}`),
        },
      ),
    "a drawing with many attributes": (letters) => () =>
      verifyOutput(
        "image.generate.illustration.svg",
        { prompt: "x" },
        {
          svg: svg(`<g ${Array.from({ length: letters / 8 }, (_, at) => `a${at}="1"`).join(" ")}/>`),
        },
      ),
    "a fraction with very many zeros": (letters) => () =>
      verifyOutput(
        "text.translate.en.it",
        { text: "Some words. ".repeat(10) },
        { text: `1.${"0".repeat(letters)}1` },
      ),
    "a letter with very many accents": (letters) => () =>
      verifyOutput(
        "text.rewrite.casual",
        { text: "Some words. ".repeat(10) },
        { text: `a${"\u0301\u0323".repeat(letters / 2)}` },
      ),
    "a review of letters with very many accents": (letters) => () =>
      verifyOutput(
        "code.review",
        { code: `a${"\u0301\u0323".repeat(letters / 2)}` },
        { findings: [{ severity: "low", line: 1, message: "a is never used." }] },
      ),
    "findings that are almost in the code": (letters) => () =>
      verifyOutput(
        "code.review",
        { code: "a".repeat(letters) },
        {
          findings: Array.from({ length: letters / 64 }, () => ({
            severity: "low",
            line: 1,
            message: `${"a".repeat(letters / 32)}b`,
          })),
        },
      ),
    "a drawing whose paint has very many spaces": (letters) => () =>
      verifyOutput(
        "image.generate.illustration.svg",
        { prompt: "x" },
        {
          svg: svg(
            `<g fill="${" ".repeat(letters / 2)}red">${'<rect width="1" height="1"/>'.repeat(letters / 64)}</g>`,
          ),
        },
      ),
    "a list of many points": (letters) => () =>
      verifyOutput(
        "text.summarize.short",
        { text: "Some other words of a text. ".repeat(20) },
        { summary: "- a http://\n".repeat(letters / 12) },
      ),
    "a long text of one word": (letters) => () =>
      verifyOutput(
        "text.translate.en.it",
        { text: "Some words. ".repeat(100) },
        { text: "a".repeat(letters) },
      ),
    "a picture with empty chunks": (letters) => {
      const file = Buffer.alloc(8 + 12 * Math.floor(letters));
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(file);
      for (let at = 12; at < file.length - 12; at += 12) file.write("IDAT", at, "latin1");
      const image_b64 = file.toString("base64");
      const params = { prompt: "x", width: 64, height: 64 };
      return () => verifyOutput("image.generate.illustration.png", params, { image_b64 });
    },
  };
  for (const [what, runWith] of Object.entries(named)) {
    it(`grows at most in proportion to the size of ${what}`, async () => {
      await expectLinear(what, runWith);
    });
  }
});
