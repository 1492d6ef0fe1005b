import { expect } from "chai";
import { readCustomSchemas } from "tallystick-capabilities/customCapability";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { verifyResult } from "tallystick-sdk/buyer/verifyResult";
import { verifyApart } from "tallystick-sdk/verification/verifyApart";

const capability = "compute.statistics.mean";
const [params, result] = [{ data: [1, 2, 6] }, { result: 3 }];

/** A worker's program that runs this code as soon as it gets a job. */
const programThat = (does: string): URL =>
  new URL(
    `data:text/javascript,import { parentPort } from "node:worker_threads"; ${encodeURIComponent(
      `parentPort.on("message", () => { ${does} }); parentPort.postMessage("ready");`,
    )}`,
  );

describe("verification in a worker", () => {
  it("gives the same outcome as in the same thread, for one result or for several at the same time", async () => {
    const wrong = { result: 4 };
    for (const given of [result, wrong, null, "3"]) {
      const apart = await verifyApart({ capability, params, result: given });
      expect(apart).to.deep.equal(await verifyOutput(capability, params, given));
    }
    const many = await Promise.all(
      Array.from({ length: 7 }, (_, at) => verifyApart({ capability, params, result: { result: at } })),
    );
    expect(many.map(({ all_passed }) => all_passed)).to.deep.equal(
      [0, 1, 2, 3, 4, 5, 6].map((at) => at === 3),
    );
  });

  it("checks a result against the seller's own schemas", async () => {
    const schemas = readCustomSchemas("custom.acme.ocr", {
      input: {},
      output: { type: "object", properties: { text: { type: "string", pattern: "^[a-z]+$" } } },
    });
    expect((await verifyApart({ schemas, result: { text: "ab" } })).all_passed).to.equal(true);
    expect((await verifyApart({ schemas, result: { text: "A" } })).details.matches_schema).to.contain(
      "output.text",
    );
  });

  it("fails a result that takes too long, and continues with the next result", async () => {
    const program = programThat("for (;;);");
    const verification = await verifyApart({ capability, params, result }, { program, timeoutMs: 50 });
    expect(verification).to.deep.equal({
      all_passed: false,
      reason: "took_too_long",
      checks: { ended_in_time: false },
      details: { ended_in_time: "took_too_long: The checks took longer than 50 ms." },
    });
    expect((await verifyApart({ capability, params, result })).all_passed).to.equal(true);
  });

  it("fails a result that takes too much memory, and the process survives", async () => {
    const program = programThat("const all = []; for (;;) all.push(new Array(1_000_000).fill(1));");
    const verification = await verifyApart({ capability, params, result }, { program, timeoutMs: 110_000 });
    expect(verification.reason).to.equal("took_too_much_memory");
    expect(verification.checks).to.deep.equal({ kept_the_memory_limit: false });
  });

  it("runs in the same thread if there are no workers, or if no worker starts", async () => {
    const job = { capability, params, result };
    expect((await verifyApart(job, { start: () => undefined })).all_passed).to.equal(true);
    const program = new URL("data:text/javascript,throw new Error('cannot start')");
    expect((await verifyApart(job, { program })).all_passed).to.equal(true);
  });

  it("runs in the same thread if a worker cannot load its code, because this is not the result's fault", async () => {
    const program = programThat('parentPort.postMessage({ error: "gone", code: "capability_unavailable" });');
    const verification = await verifyApart({ capability, params, result }, { program });
    expect(verification).to.include({ all_passed: true });
  });

  it("does not repeat in the same thread a check that ended a worker", async () => {
    const program = programThat("process.exit(3);");
    const error = await verifyApart({ capability, params, result }, { program }).catch((caught) => caught);
    expect(error.message).to.contain("exit code 3");
  });

  it("is used by a buyer for every result of a seller", async () => {
    const listing = { capability, verification_version: "v1" } as never;
    let deep: unknown = 0;
    for (let level = 0; level < 200_000; level++) deep = [deep];
    for (const hostile of [deep, undefined, () => 1, { result: Number.NaN }]) {
      const { all_passed } = await verifyResult(listing, params, hostile);
      expect(all_passed).to.equal(false);
    }
    expect((await verifyResult(listing, params, result)).all_passed).to.equal(true);
  });
});
