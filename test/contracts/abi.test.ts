import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { abiPath, expectedAbiSource, GENERATED_ABIS } from "../../tools/generate-abi.ts";
import { BUILD_TIMEOUT, freshChain } from "./support/chain.ts";

const parsed = { hireEscrowAbi, anchoredLedgerAbi, testUsdcAbi };

describe("packages/protocol/abi", () => {
  before(async function () {
    this.timeout(BUILD_TIMEOUT);
    await freshChain();
  });

  for (const entry of GENERATED_ABIS) {
    it(`${entry.name} is the ABI of the compiled contracts (else: npm run generate:abi)`, async () => {
      expect(await readFile(abiPath(entry.name), "utf8")).to.equal(await expectedAbiSource(entry));
    });

    it(`${entry.name} equals the compiler's own ABI except for the names of its types`, async () => {
      const file = join(repositoryRoot, "artifacts", entry.artifact);
      const { abi } = JSON.parse(await readFile(file, "utf8"));
      expect(comparable(parsed[entry.name])).to.deep.equal(comparable(abi));
    });
  }
});

/** The items in a fixed order. Empty names, flags that are false, and the names of Solidity types are left out. */
function comparable(abi: readonly object[]): string[] {
  const sound = (key: string, value: unknown) =>
    key !== "internalType" && value !== "" && value !== false ? value : undefined;
  const inOrder = (_: string, value: unknown) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return abi.map((item) => JSON.stringify(JSON.parse(JSON.stringify(item, sound)), inOrder)).sort();
}
