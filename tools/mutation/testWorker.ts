// Runs test files again and again in one process, a round for each message. A program, not a module: started by
// startTestWorker.ts in a scratch copy of the repository, with the files as arguments.
import Mocha from "mocha";

// The caller decides whether a round takes too long, because on a busy machine any test may be slow.
const mocha = new Mocha({ bail: true, timeout: 0, reporter: class {} as never });
mocha.cleanReferencesAfterRun(false);
for (const file of process.argv.slice(2)) mocha.addFile(file);
await mocha.loadFilesAsync();
const inOrder = [...mocha.suite.suites];

process.on("message", ({ first }: { first: string[] }) => {
  const rank = (suite: Mocha.Suite) => {
    const at = first.findIndex((file) => suite.file?.endsWith(file));
    return at < 0 ? first.length : at;
  };
  mocha.suite.suites = inOrder.toSorted((a, b) => rank(a) - rank(b));
  let passed = 0;
  let failed: { test: string; file: string } | undefined;
  const runner = mocha.run(() => process.send?.({ passed, failed }));
  runner.on("pass", () => {
    passed++;
  });
  runner.on("fail", (test, error) => {
    // A test or hook with its own time limit may also fail because the machine is busy. Then no file is named,
    // and the round is tried again.
    const slow = error.code === "ERR_MOCHA_TIMEOUT";
    failed ??= { test: test.fullTitle(), file: slow ? "" : fileOf(test) };
  });
});
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });

function fileOf(test: Mocha.Runnable): string {
  let suite = test.parent;
  while (suite && suite.file === undefined) suite = suite.parent;
  return suite?.file ?? "";
}
