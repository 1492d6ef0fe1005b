/** One program of the test run. */
export type TestStep = {
  name: string;
  /** Arguments for node, relative to the repository. */
  args: string[];
  /** Whether it writes how many tests it ran to the file that TALLYSTICK_TEST_COUNTS names. */
  counts: boolean;
  /** Whether it cannot say anything useful before the contracts build. */
  needsBuild: boolean;
};

/** The checks, which pass or fail as a whole. */
export const checks: TestStep[] = [
  {
    name: "lint and format",
    args: ["node_modules/@biomejs/biome/bin/biome", "check", "."],
    counts: false,
    needsBuild: false,
  },
  {
    name: "build",
    args: ["node_modules/hardhat/dist/src/cli.js", "build"],
    counts: false,
    needsBuild: false,
  },
  { name: "types", args: ["node_modules/typescript/bin/tsc", "--noEmit"], counts: false, needsBuild: true },
];

/** The test runners, which count their tests. */
export function testRunners({ files, grep }: { files: string[]; grep?: string }): TestStep[] {
  const mocha = ["--import", "./scripts/testing/endWithParent.ts", "node_modules/mocha/lib/cli/cli.js"];
  mocha.push("--reporter", "./scripts/testing/countingReporter.ts");
  if (grep !== undefined) mocha.push("--fgrep", grep);
  mocha.push(...(files.length > 0 ? files : ["test/**/*.test.ts"]));
  return [
    {
      name: "Solidity tests",
      args: [
        "--import",
        "tsx",
        "--import",
        "./scripts/testing/endWithParent.ts",
        "scripts/testing/solidityTests.ts",
      ],
      counts: true,
      needsBuild: true,
    },
    { name: "TypeScript tests", args: ["--import", "tsx", ...mocha], counts: true, needsBuild: true },
  ];
}
