import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { encodeRgb } from "../../samples/canvas.ts";
import { enlarge } from "../../samples/enlarge.ts";
import { renderScene } from "../../samples/scenes.ts";

/**
 * How long verifiers take for about the largest inputs that they accept, in milliseconds. Each time is the best of
 * three runs.
 */
export async function measureLargest(): Promise<{ what: string; milliseconds: number }[]> {
  const [width, height] = [1920, 1080];
  const photo = encodeRgb(width, height, enlarge(renderScene("balls", width / 8, height / 8), 8).bytes());
  const image = { image_b64: Buffer.from(photo).toString("base64"), width, height };
  const sentence = "Il comitato ha approvato il bilancio del 2026 dopo tre ore di discussione. ";
  const source = "The committee approved the budget of 2026 after three hours of debate. ";
  const repeat = (text: string): string => text.repeat(Math.floor(100_000 / text.length)).trim();
  const vector = Array.from({ length: 3072 }, (_, at) => Math.sin(at * at + 1));
  const length = Math.hypot(...vector);
  const cases: [what: string, id: string, params: unknown, output: unknown][] = [
    [
      `a photograph of ${width} × ${height}`,
      "image.generate.photorealistic.png",
      { prompt: "balls", width, height },
      image,
    ],
    [
      "a translation of 100,000 letters",
      "text.translate.en.it",
      { text: repeat(source) },
      { text: repeat(sentence) },
    ],
    [
      "a vector of 3,072 numbers",
      "embed.text.text-embedding-3-large",
      { text: source },
      { vector: vector.map((value) => value / length), dim: 3072 },
    ],
  ];
  const measured: { what: string; milliseconds: number }[] = [];
  for (const [what, id, params, output] of cases) {
    let milliseconds = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 3; run++) {
      const started = performance.now();
      const { all_passed, details } = await verifyOutput(id, params, output);
      milliseconds = Math.min(milliseconds, performance.now() - started);
      if (!all_passed) throw new Error(`${what} is not accepted: ${JSON.stringify(details)}`);
    }
    measured.push({ what, milliseconds });
  }
  return measured;
}
