import { expect } from "chai";
import { loadCatalogue } from "tallystick-capabilities/catalogue";
import {
  currentVersion,
  DEPRECATION_WINDOW_SECONDS,
  minVerificationVersion,
  newestVersion,
  type PublishedVersion,
  versionNumber,
  versionStatus,
} from "tallystick-capabilities/versions";

const BUMP = 1_000_000_000;
const versions: PublishedVersion[] = [
  { version: "v0", publishedAt: 0 },
  { version: "v1", publishedAt: BUMP },
  { version: "v2", publishedAt: 2 * BUMP },
];
const capability = { versions };

describe("verification versions", () => {
  it("are deprecated for 90 days after the next version, and then retired", () => {
    const window = 90 * 86_400;
    expect(DEPRECATION_WINDOW_SECONDS).to.equal(window);
    expect(versionStatus(capability, "v0", BUMP - 1)).to.equal("current");
    expect(versionStatus(capability, "v0", BUMP)).to.equal("deprecated");
    expect(versionStatus(capability, "v0", BUMP + window)).to.equal("deprecated");
    expect(versionStatus(capability, "v0", BUMP + window + 1)).to.equal("retired");
    expect(versionStatus(capability, "v1", BUMP + window + 1)).to.equal("current");
  });

  it("are unknown before they are published, and if they do not exist", () => {
    expect(versionStatus(capability, "v1", BUMP - 1)).to.equal("unknown");
    expect(versionStatus(capability, "v1", BUMP)).to.equal("current");
    expect(versionStatus(capability, "v3", 3 * BUMP)).to.equal("unknown");
  });

  it("give the oldest and the newest version for which a buyer can search", () => {
    expect(minVerificationVersion(capability, BUMP)).to.equal("v0");
    expect(minVerificationVersion(capability, BUMP + DEPRECATION_WINDOW_SECONDS + 1)).to.equal("v1");
    expect(currentVersion(capability, BUMP - 1)).to.equal("v0");
    expect(currentVersion(capability, BUMP)).to.equal("v1");
    expect(currentVersion(capability, 3 * BUMP)).to.equal("v2");
    expect(newestVersion(capability)).to.equal("v2");
    expect(newestVersion({ versions: versions.slice(0, 1) })).to.equal("v0");
    expect(newestVersion({ versions: [] })).to.equal("v0");
  });

  it("are read only from the exact spelling of their name", () => {
    expect(["v0", "v12", "v01", "1", "V1", "v1.0", "v-1", "xv1", "v1x"].map(versionNumber)).to.deep.equal([
      0,
      12,
      ...Array(7).fill(undefined),
    ]);
  });

  it("are in order for every capability, from v0 on", async () => {
    for (const { versions: published } of await loadCatalogue()) {
      expect(published.map(({ version }) => versionNumber(version))).to.deep.equal([...published.keys()]);
      const times = published.map(({ publishedAt }) => publishedAt);
      expect(times).to.deep.equal([...times].sort((a, b) => a - b));
    }
  });
});
