import { expect } from "chai";
import { readBytes, readText } from "../../portal/node/readBytes.ts";

describe("portal/node/readBytes", () => {
  it("reads an answer up to the limit completely", async () => {
    for (const text of ["", "a", "four", "12345"])
      expect(new TextDecoder().decode(await readBytes(new Response(text), 5))).to.equal(text);
    expect((await readBytes(new Response(null), 5))?.length).to.equal(0);
    expect(await readText(new Response("12345"), 5)).to.equal("12345");
    expect(await readText(new Response("123456"), 5)).to.equal(undefined);
  });

  it("stops reading an answer that is longer than the limit or endless, and returns nothing of it", async () => {
    let given = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        given += 1_000;
        controller.enqueue(new Uint8Array(1_000));
      },
      cancel: () => {
        isCancelled = true;
      },
    });
    const bytes = await readBytes(new Response(body), 10_000);
    expect([bytes, given <= 13_000, isCancelled]).to.deep.equal([undefined, true, true]);
  });
});
