import { crc32, deflateSync } from "node:zlib";
import { expect } from "chai";
import { decodePicture, MAX_PIXELS, pictureSize } from "tallystick-capabilities/checks/decodePicture";
import { measurePicture } from "tallystick-capabilities/checks/measurePicture";
import { seededRandom } from "tallystick-runtime/seededRandom";

type Header = { width: number; height: number; depth?: number; colour?: number; interlace?: number };

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function png(header: Header, lines: Uint8Array, extra: Buffer[] = []): string {
  const { width, height, depth = 8, colour = 2, interlace = 0 } = header;
  const ihdr = Buffer.alloc(13);
  ihdr.writeUInt32BE(width, 0);
  ihdr.writeUInt32BE(height, 4);
  ihdr.set([depth, colour, 0, 0, interlace], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [
    signature,
    chunk("IHDR", ihdr),
    ...extra,
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat(parts).toString("base64");
}

const complaint = (base64: string): Promise<string> =>
  decodePicture(base64).then(
    () => "none",
    (error: Error) => error.message,
  );

describe("decodePicture", () => {
  it("reads colours, with and without alpha, in 8 and 16 bits", async () => {
    const rgb = await decodePicture(png({ width: 2, height: 1 }, Buffer.from([0, 255, 0, 0, 1, 2, 3])));
    expect([rgb.rgbAt(0, 0), rgb.rgbAt(1, 0)]).to.deep.equal([0xff0000, 0x010203]);
    const clear = await decodePicture(png({ width: 1, height: 1, colour: 6 }, Buffer.from([0, 9, 9, 9, 0])));
    expect(clear.rgbAt(0, 0)).to.equal(0xbcbcbc);
    const deep = await decodePicture(
      png({ width: 1, height: 1, depth: 16 }, Buffer.from([0, 1, 9, 2, 9, 3, 9])),
    );
    expect(deep.rgbAt(0, 0)).to.equal(0x010203);
  });

  it("refuses an impossible bit depth before it allocates memory for the picture", async () => {
    for (const [depth, colour] of [
      [255, 6],
      [4, 2],
      [16, 3],
      [0, 0],
      [3, 0],
    ] as const) {
      const header = { width: 2048, height: 1024, depth, colour };
      expect(await complaint(png(header, Buffer.alloc(1))), `${depth}`).to.equal("has an impossible depth");
    }
  });

  it("refuses a file with too many chunks, and a file with a repeated chunk", async () => {
    const line = Buffer.from([0, 1, 2, 3]);
    const comments = Array.from({ length: 20_000 }, () => chunk("tEXt", Buffer.alloc(0)));
    expect(await complaint(png({ width: 1, height: 1 }, line, comments))).to.contain("chunks");
    const header = chunk("IHDR", Buffer.from([0, 0, 0, 9, 0, 0, 0, 9, 8, 2, 0, 0, 0]));
    expect(await complaint(png({ width: 1, height: 1 }, line, [header]))).to.equal("has 2 chunks of IHDR");
  });

  it("reads greys of one to eight bits", async () => {
    const bits = await decodePicture(
      png({ width: 3, height: 1, depth: 1, colour: 0 }, Buffer.from([0, 0b10100000])),
    );
    expect([0, 1, 2].map((x) => bits.rgbAt(x, 0))).to.deep.equal([0xffffff, 0, 0xffffff]);
    const pair = await decodePicture(png({ width: 1, height: 1, colour: 4 }, Buffer.from([0, 7, 255])));
    expect(pair.rgbAt(0, 0)).to.equal(0x070707);
  });

  it("reads palettes with several pixels in a byte and with one pixel in a byte", async () => {
    const palette = chunk("PLTE", Buffer.from([10, 20, 30, 40, 50, 60, 70, 80, 90]));
    const four = png({ width: 3, height: 1, depth: 2, colour: 3 }, Buffer.from([0, 0b00011000]), [palette]);
    const packed = await decodePicture(four);
    expect([0, 1, 2].map((x) => packed.rgbAt(x, 0))).to.deep.equal([0x0a141e, 0x28323c, 0x46505a]);
    const whole = await decodePicture(
      png({ width: 2, height: 1, colour: 3 }, Buffer.from([0, 2, 0]), [palette]),
    );
    expect([0, 1].map((x) => whole.rgbAt(x, 0))).to.deep.equal([0x46505a, 0x0a141e]);
  });

  it("reads interlaced pictures", async () => {
    // 2 × 2: pass 1 has (0,0), pass 6 has (1,0), pass 7 has the second row.
    const lines = Buffer.from([0, 1, 1, 1, 0, 2, 2, 2, 0, 3, 3, 3, 4, 4, 4]);
    const picture = await decodePicture(png({ width: 2, height: 2, interlace: 1 }, lines));
    const seen = [picture.rgbAt(0, 0), picture.rgbAt(1, 0), picture.rgbAt(0, 1), picture.rgbAt(1, 1)];
    expect(seen).to.deep.equal([0x010101, 0x020202, 0x030303, 0x040404]);
  });

  it("refuses image data that is too short or too long", async () => {
    expect(await complaint(png({ width: 2, height: 2 }, Buffer.alloc(7)))).to.contain("less image data");
    expect(await complaint(png({ width: 2, height: 2 }, Buffer.alloc(15)))).to.contain("more image data");
  });

  it("stops a decompression bomb before it uses much memory", async () => {
    const bomb = png({ width: 8, height: 8 }, Buffer.alloc(200_000_000));
    const before = process.memoryUsage().arrayBuffers;
    expect(await complaint(bomb)).to.contain("more image data");
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(50_000_000);
  });

  it("does not decompress chunks that the picture does not need", async () => {
    const profile = Buffer.concat([Buffer.from("icc\0\0", "latin1"), Buffer.from("not compressed at all")]);
    const text = png({ width: 1, height: 1 }, Buffer.from([0, 1, 2, 3]), [chunk("iCCP", profile)]);
    expect((await decodePicture(text)).rgbAt(0, 0)).to.equal(0x010203);
  });

  it("refuses a picture whose header gives too large a size", async () => {
    const wide = png({ width: 65_536, height: 65_536 }, Buffer.alloc(1));
    expect(await complaint(wide)).to.contain(`more than ${MAX_PIXELS} pixels`);
    expect(() => pictureSize(wide)).to.throw("pixels");
  });

  it("refuses chunks that no other program accepts: an unknown critical one, divided image data, a palette too late or none", async () => {
    const whole = Buffer.from(png({ width: 1, height: 1 }, Buffer.from([0, 1, 2, 3])), "base64");
    const [start, end] = [whole.subarray(0, 33), chunk("IEND", Buffer.alloc(0))];
    const data = deflateSync(Buffer.from([0, 1, 2, 3]));
    const file = (...parts: Buffer[]) => Buffer.concat([start, ...parts, end]).toString("base64");
    const [text, palette] = [chunk("tEXt", Buffer.from("a\0b")), chunk("PLTE", Buffer.from([1, 2, 3]))];
    const [first, second] = [chunk("IDAT", data.subarray(0, 5)), chunk("IDAT", data.subarray(5))];
    for (const good of [
      file(first, second),
      file(text, palette, first, second, text),
      file(chunk("abCd", data), first, second),
    ])
      expect(await complaint(good)).to.equal("none");
    expect(await complaint(file(chunk("ABCD", data), first, second))).to.contain("ABCD");
    expect(await complaint(file(first, text, second))).to.contain("between its image data");
    expect(await complaint(file(first, second, palette))).to.contain("palette");
    for (const none of [file(), file(palette)])
      expect(await complaint(none), "no image data").to.equal("has damaged image data");
    const indexed = png({ width: 1, height: 1, colour: 3 }, Buffer.from([0, 0]));
    expect(await complaint(indexed)).to.contain("palette");
    expect(() => pictureSize(file(first, text, second))).to.throw("between its image data");
  });

  it("names what is wrong with the file", async () => {
    const good = Buffer.from(png({ width: 1, height: 1 }, Buffer.from([0, 1, 2, 3])), "base64");
    const changed = (at: number, value: number): string => {
      const copy = Buffer.from(good);
      copy[at] = value;
      return copy.toString("base64");
    };
    expect(await complaint(changed(0, 0))).to.contain("signature");
    expect(await complaint(changed(18, 1))).to.contain("checksum");
    expect(await complaint(good.subarray(0, -12).toString("base64"))).to.contain("IEND");
    expect(await complaint(good.subarray(0, -5).toString("base64"))).to.contain("within a chunk");
    expect(await complaint(png({ width: 0, height: 1 }, Buffer.alloc(1)))).to.contain("no width");
    expect(await complaint(png({ width: 1, height: 1, colour: 5 }, Buffer.alloc(2)))).to.contain(
      "colour type",
    );
    expect(await complaint("not base 64!")).to.contain("base 64");
  });
});

describe("a picture that is read again", () => {
  const random = seededRandom(20_261_129);
  const below = (limit: number) => Math.floor(random() * limit);
  const CHANNELS: { [colour: number]: number } = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

  /** The scan lines of samples, each with the filter byte 0 and from the highest bit on. */
  function linesOf(samples: number[][], depth: number): Uint8Array {
    const rows = samples.map((row) => {
      const bits = row.map((one) => one.toString(2).padStart(depth, "0")).join("");
      return [0, ...(bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, "0"), 2))];
    });
    return Uint8Array.from(rows.flat());
  }
  /** A colour over the light grey that is behind transparent pixels. */
  const over = (rgb: number[], alpha: number): number =>
    rgb.reduce((sum, one) => sum * 256 + Math.round((one * alpha + 188 * (255 - alpha)) / 255), 0);

  it("has the same pixels, in every colour type and depth", async () => {
    for (const [colour, depths] of [
      [0, [1, 2, 4, 8, 16]],
      [2, [8, 16]],
      [3, [1, 2, 4, 8]],
      [4, [8, 16]],
      [6, [8, 16]],
    ] as const) {
      for (const depth of depths) {
        const [width, height, channels] = [13, 5, CHANNELS[colour] as number];
        const samples = Array.from({ length: height }, () =>
          Array.from({ length: width * channels }, () => below(2 ** depth)),
        );
        const palette = Array.from({ length: 2 ** Math.min(depth, 8) }, () => [
          below(256),
          below(256),
          below(256),
        ]);
        const alphas = palette.slice(0, -1).map(() => below(256));
        const extra =
          colour === 3
            ? [chunk("PLTE", Buffer.from(palette.flat())), chunk("tRNS", Buffer.from(alphas))]
            : [];
        const picture = await decodePicture(
          png({ width, height, depth, colour }, linesOf(samples, depth), extra),
        );
        for (let y = 0; y < height; y++) {
          for (let x = 0; x < width; x++) {
            const own = (samples[y] as number[]).slice(x * channels, (x + 1) * channels);
            const bytes = own.map((one) =>
              depth === 16 ? one >> 8 : Math.round((one * 255) / (2 ** depth - 1)),
            );
            const [first = 0, second = 255, third = 0, fourth = 255] = bytes;
            const wanted =
              colour === 3
                ? over(palette[own[0] as number] as number[], alphas[own[0] as number] ?? 255)
                : colour === 0 || colour === 4
                  ? over([first, first, first], colour === 4 ? second : 255)
                  : over([first, second, third], fourth);
            expect(picture.rgbAt(x, y), `type ${colour}, depth ${depth}: ${x}, ${y}`).to.equal(wanted);
          }
        }
      }
    }
  });

  it("has the same pixels if it needs several blocks of 65,535 bytes", async () => {
    const [width, height] = [160, 300];
    const colourAt = (x: number, y: number) => [x, y & 255, (x + y) & 255];
    const samples = Array.from({ length: height }, (_, y) =>
      Array.from({ length: width }, (_, x) => colourAt(x, y)).flat(),
    );
    const picture = await decodePicture(png({ width, height }, linesOf(samples, 8)));
    for (let y = 0; y < height; y += 7)
      for (let x = 0; x < width; x += 11) expect(picture.rgbAt(x, y)).to.equal(over(colourAt(x, y), 255));
    expect(picture.rgbAt(width - 1, height - 1)).to.equal(over(colourAt(width - 1, height - 1), 255));
  });

  it("has no part that is cut, and no beginning but its header", async () => {
    const line = Buffer.from([0, 1, 2, 3]);
    const good = Buffer.from(png({ width: 1, height: 1 }, line), "base64");
    // The header ends at byte 33; the image data and the end follow.
    for (let length = 9; length < good.length; length++) {
      const isBetween = length === 33 || length === good.length - 12;
      const said = isBetween ? "has no end: IEND is missing" : "ends within a chunk";
      expect(await complaint(good.subarray(0, length).toString("base64")), `${length}`).to.equal(said);
    }
    const [signature, rest] = [good.subarray(0, 8), good.subarray(33)];
    const ihdr = good.subarray(16, 29);
    const begun = (...parts: Buffer[]) =>
      complaint(Buffer.concat([signature, ...parts, rest]).toString("base64"));
    expect(await begun(chunk("IHDR", ihdr))).to.equal("none");
    expect(await begun(chunk("tEXt", ihdr), chunk("IHDR", ihdr))).to.equal("does not begin with IHDR");
    expect(await begun(chunk("IHDR", Buffer.concat([ihdr, ihdr.subarray(0, 1)])))).to.equal(
      "does not begin with IHDR",
    );
    expect(await begun(chunk("IHDR", ihdr.subarray(0, 12)))).to.equal("does not begin with IHDR");
    expect(await begun()).to.equal("does not begin with IHDR");
    expect(await complaint(png({ width: 1, height: 0 }, Buffer.alloc(1)))).to.equal(
      "has no width or no height",
    );
  });

  it("may have parts that nobody needs, with any checksum, and 20,000 parts in all", async () => {
    const line = Buffer.from([0, 1, 2, 3]);
    const comment = chunk("tEXt", Buffer.from("a\0b"));
    const damaged = Buffer.from(comment);
    damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1;
    const many = (count: number) => png({ width: 1, height: 1 }, line, Array(count).fill(damaged));
    expect(await complaint(many(19_997))).to.equal("none");
    expect(await complaint(many(19_998))).to.equal("has more than 20000 chunks");
    const palette = chunk("PLTE", Buffer.from([1, 2, 3]));
    expect(await complaint(png({ width: 1, height: 1 }, line, [palette]))).to.equal("none");
  });

  it("has a size of at most MAX_PIXELS", () => {
    const sized = (width: number, height: number) => pictureSize(png({ width, height }, Buffer.alloc(1)));
    expect(sized(2_048, 1_024)).to.deep.equal({ width: 2_048, height: 1_024 });
    expect(() => sized(2_048, 1_025)).to.throw(`has more than ${MAX_PIXELS} pixels`);
  });
});

describe("measurePicture", () => {
  it("gives the same figures for the same picture in any size", () => {
    const board = (size: number) => ({
      width: size,
      height: size,
      rgbAt: (x: number, y: number) =>
        (Math.floor((x * 8) / size) + Math.floor((y * 8) / size)) % 2 === 0 ? 0xffffff : 0,
    });
    const [small, large] = [measurePicture(board(128)), measurePicture(board(1024))];
    expect(small.contrast).to.be.closeTo(127.5, 0.1);
    expect(large.contrast).to.be.closeTo(small.contrast, 0.1);
    expect(large.commonest).to.be.closeTo(0.5, 0.01);
    expect(large.edges).to.be.closeTo(small.edges, 0.03);
    expect(large.rowPatterns).to.equal(small.rowPatterns);
  });
});
