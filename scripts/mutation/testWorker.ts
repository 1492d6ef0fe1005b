// Runs test files again and again in one process, a round for each message. A program, not a module: started by
// startTestWorker.ts in a scratch copy of the repository, with the files as arguments.
import Mocha from "mocha";

const mocha = new Mocha({ bail: true, timeout: 60_000, reporter: class {} as never });
mocha.cleanReferencesAfterRun(false);
for (const file of process.argv.slice(2)) mocha.addFile(file);
await mocha.loadFilesAsync();

process.on("message", () => {
  let passed = 0;
  let failed: string | undefined;
  const runner = mocha.run(() => process.send?.({ passed, failed }));
  runner.on("pass", () => {
    passed++;
  });
  runner.on("fail", (test) => {
    failed ??= test.fullTitle();
  });
});
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });
