import { runAllTests } from "../test.ts";
import {
  PUBLISHED_REGISTRIES_CODE,
  PUBLISHED_SOURCE,
  type PublishedRegistry,
} from "./publishedRegistries.ts";
import { readPublished } from "./readPublished.ts";

/** All tests of this repository that write to registries or read them. */
const TESTS = [
  "test/fork/erc8004.test.ts",
  "test/sdk/erc8004.test.ts",
  "test/sdk/erc8004Anchored.test.ts",
  "test/sdk/agent0.test.ts",
  "test/scripts/commands/erc8004.test.ts",
  "test/indexer/node.test.ts",
];

/**
 * Runs the tests of ERC-8004's registries against the published code in place of `contracts/test/erc8004/`.
 *
 * @param folder has the compiled contracts; if it is undefined, nothing is tested
 * @returns the exit code: 1 also when nothing could be tested
 */
export async function testRegistries(folder: string | undefined): Promise<number> {
  const { repository, commit } = PUBLISHED_SOURCE;
  if (folder === undefined) {
    process.stderr.write(
      `Nothing was tested: the published registries are not part of this repository.\n` +
        `Name the folder of their compiled contracts: ${repository}, commit ${commit}. Build them as that repository says.\n`,
    );
    return 1;
  }
  for (const name of Object.keys(PUBLISHED_REGISTRIES_CODE) as PublishedRegistry[]) {
    readPublished(folder, name);
    const { creation, runtime } = PUBLISHED_REGISTRIES_CODE[name];
    process.stdout.write(`${name} is that of ${commit}: creation ${creation}, runtime ${runtime}\n`);
  }
  process.env.ERC8004_ARTIFACTS = folder;
  return await runAllTests({ files: TESTS, build: true });
}
