import { expect } from "chai";
import { capabilityOf } from "tallystick-capabilities/capabilityOf";
import { loadCatalogue } from "tallystick-capabilities/catalogue";
import { checkInput } from "tallystick-capabilities/checkInput";
import { checksOf, verifyOutput } from "tallystick-capabilities/verifyOutput";
import { readSamples } from "../../tools/samples/readSamples.ts";

const samples = readSamples();
const catalogue = await loadCatalogue();

describe("the samples of every capability", () => {
  for (const capability of catalogue) {
    const own = samples.filter((sample) => sample.capability === capability.id);
    const good = own.filter(({ fails }) => fails === undefined);
    const damaged = own.filter(({ fails }) => fails !== undefined);

    describe(capability.id, () => {
      it("are at least five good and ten damaged samples", () => {
        expect(good.length).to.be.at.least(5);
        expect(damaged.length).to.be.at.least(10);
        expect(new Set(own.map(({ name }) => name)).size).to.equal(own.length);
      });

      for (const { name, id, params, output } of good) {
        it(`are accepted by every version: ${name}`, async () => {
          expect(await capabilityOf(id)).to.equal(capability);
          await checkInput(id, params);
          for (const { version } of capability.versions) {
            const verification = await verifyOutput(id, params, output, version);
            expect(verification.details).to.deep.equal({});
            expect(verification.all_passed).to.equal(true);
          }
        });
      }

      for (const { name, id, params, output, fails, version } of damaged) {
        it(`are refused: ${name}`, async () => {
          await checkInput(id, params);
          const latest = await verifyOutput(id, params, output);
          expect(latest.all_passed).to.equal(false);
          expect(latest.checks[fails as string], JSON.stringify(latest.checks)).to.equal(false);
          expect(latest.details[fails as string]).to.match(/./);
          if (version === undefined) return;
          const old = await verifyOutput(id, params, output, version);
          expect(old.checks[fails as string]).to.equal(false);
        });
      }

      it("have a damaged sample for every check", () => {
        const names = checksOf(capability, "v1").map(([name]) => name);
        const covered = new Set(damaged.map(({ fails }) => fails));
        expect(names.filter((name) => !covered.has(name))).to.deep.equal([]);
      });
    });
  }
});
