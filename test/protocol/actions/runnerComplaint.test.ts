import { expect } from "chai";
import fc from "fast-check";
import { type ArgumentValues, runnerComplaint } from "tallystick-protocol/actions/runnerComplaint";

describe("runnerComplaint", () => {
  /** Whether a rule may leave arguments of a program open. */
  const isOpen = (program: string, ...values: ArgumentValues[]): boolean =>
    runnerComplaint(program, values.length > 0 ? values : ["text"]) === undefined;

  it("finds programs that run other programs, under every name, version, case and ending", () => {
    const runners =
      "sh bash busybox env xargs nice ionice timeout sudo doas su watch setsid nohup stdbuf unshare chroot flock parallel script " +
      "expect gdb strace ltrace make find fd awk gawk perl ruby node deno bun bunx npx pnpx uvx pipx docker podman nerdctl kubectl " +
      "ssh rsync tar vim emacs java php lua osascript powershell systemd-run nsenter bwrap tmux screen at cmake ninja gradle mvn " +
      "nix-shell sqlite3 psql m4 linux32 proxychains4 python3 python3.12 python3.13t python3-dbg pypy3.10 ruby3.2 lua5.4 php8.2 " +
      "gawk-5.1 python3.14td node22 node-22 perl5.36.0 bash. python3. bash.exe PYTHON.EXE Node.Cmd busybox.static bash-static R Rscript " +
      "ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux-riscv64-lp64d.so.1 ld-linux-armhf.so.3 ld-musl-x86_64.so.1 ld64.so.2 ld.so.1 " +
      "ld-2.31.so ld-elf.so.1 babel-node vite-node ts-node-esm jiti";
    const open = runners.split(" ").flatMap((name) => {
      const paths = [name, name.toUpperCase(), `/usr/bin/${name}`, `/usr/local/BIN/${name.toUpperCase()}`];
      return paths.filter((program) => isOpen(program));
    });
    expect(open).to.deep.equal([]);
  });

  it("finds the words of package managers and build tools that run other programs, in the place of the command", () => {
    const running = {
      npm: ["exec", "x", "init", "install", "i", "add"],
      pnpm: ["dlx", "exec", "install", "i", "add"],
      yarn: ["dlx", "install", "add"],
      pip: ["install"],
      go: ["run", "install"],
      cargo: ["run", "install"],
      gem: ["install"],
      uv: ["run", "tool", "add"],
      poetry: ["run"],
      bundle: ["exec"],
      "pre-commit": ["try-repo"],
      git: ["bisect", "submodule", "hook", "shell", "-c"],
    };
    for (const [program, words] of Object.entries(running))
      for (const word of words) {
        expect(runnerComplaint(program, [[word], "text"])).to.equal(`${program} ${word} runs its arguments`);
        expect(isOpen(`/usr/bin/${program}`, ["--silent"], [word], "other"), word).to.equal(false);
        expect(isOpen(program, ["--prefix"], "other", ["test", word], "text"), word).to.equal(false);
        expect(isOpen(program, ["--unknown"], ["value"], [word], "text"), word).to.equal(false);
      }
    // A free word in the place of the command can become each of them.
    expect(runnerComplaint("npm", ["text", "text"])).to.equal("npm can run what they name");
    expect(isOpen("git", ["--no-pager"], "text")).to.equal(false);
    expect(isOpen("go", "other", "text")).to.equal(false);
    for (const option of ["--exec", "--upload-pack"])
      expect(isOpen("git", ["fetch"], "text", [option]), option).to.equal(false);
    for (const [program, ...values] of [
      ["git", ["rebase"], ["-x"], "text"],
      ["git", ["-C"], ["app"], ["rebase"], ["-ix"], "text"],
      ["go", ["test"], ["-exec"], "text"],
      ["uv", ["pip"], ["install"], "text"],
      ["pip3.12", ["install"], "text"],
    ] as [string, ...ArgumentValues[]][])
      expect(isOpen(program, ...values), JSON.stringify([program, ...values])).to.equal(false);
  });

  it("does not take an option's value for the command, so that the command is never free", () => {
    for (const [program, ...values] of [
      ["git", ["-C"], ["/srv/app"], "text"],
      ["git", ["-C"], ["app"], "text"],
      ["git", ["--git-dir"], [".git"], ["--work-tree"], ["."], "text"],
      ["git", ["--git-dir=/srv/app"], "text"],
      ["git", ["-C"], ["app"], ["--no-pager"], "text"],
      ["git", ["-C", "status"], "text"],
      ["npm", ["--prefix"], ["/srv/app"], "text"],
      ["npm", ["-w"], ["api"], "text"],
      ["npm", ["--loglevel"], ["silent"], "text"],
      ["npm", ["--silent"], ["true"], "text"],
      ["npm", ["--silent", "test"], "text"],
      ["pnpm", ["--filter"], ["api"], "text"],
      ["pnpm", ["recursive"], ["exec"], "text"],
      ["yarn", ["--cwd"], ["api"], "text"],
      ["yarn", ["workspace"], ["api"], "text"],
      ["yarn", ["workspace"], ["api"], ["exec"], "text"],
      ["uv", ["--directory"], ["api"], ["run"], "text"],
      ["poetry", ["--project"], ["api"], "text"],
      ["cargo", ["--manifest-path"], ["Cargo.toml"], "text"],
      ["cargo", ["+nightly"], "text"],
      ["cargo", ["+nightly"], ["run"], "text"],
      ["lein", ["with-profile"], ["dev"], ["exec"], "text"],
    ] as [string, ...ArgumentValues[]][])
      expect(isOpen(program, ...values), JSON.stringify([program, ...values])).to.equal(false);
  });

  it("complains of each rule with which an agent can make git run something", () => {
    const words =
      "-C --git-dir --no-pager --bare -c -x --exec app /srv/app true status switch rebase submodule hook";
    const list = fc.uniqueArray(fc.constantFrom(...words.split(" ")), { minLength: 1, maxLength: 2 });
    const value = fc.oneof(
      { weight: 4, arbitrary: list },
      fc.constantFrom("text" as const, "other" as const),
    );
    const choices = (each: ArgumentValues): readonly string[] =>
      each === "text" ? ["submodule", "app"] : each === "other" ? ["/srv/file", "7"] : each;
    let complaints = 0;
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), (values) => {
        const calls = values.reduce<string[][]>(
          (before, each) => before.flatMap((call) => choices(each).map((it) => [...call, it])),
          [[]],
        );
        const complaint = runnerComplaint("git", values);
        complaints += complaint === undefined ? 0 : 1;
        if (complaint === undefined) expect(calls.filter(runsSomething)).to.deep.equal([]);
      }),
      { seed: 45, numRuns: 3_000 },
    );
    expect(complaints).to.be.within(500, 2_900);
  });

  it("leaves open the arguments of other programs, and of commands that run nothing", () => {
    for (const program of [
      "ls",
      "head",
      "cp",
      "rm",
      "grep",
      "cat",
      "tool",
      "bashful",
      "3node",
      "toString",
      "r10k",
      "ld",
      "ldd",
    ])
      expect(isOpen(program), program).to.equal(true);
    for (const [program, ...values] of [
      ["npm", ["run"], ["test", "lint"]],
      ["npm", ["run"], ["test"], "text"],
      ["git", ["commit"], ["-m"], "text"],
      ["git", ["-C"], "other", ["status", "log"]],
      ["git", ["-C"], ["/srv/app"], ["status"], "text"],
      ["git", ["-C"], ["app"], ["log"], "text"],
      ["git", ["--no-pager"], ["log"], "text"],
      ["git", ["clean"], ["-x"], "text"],
      ["pip", ["show"], "text"],
      ["uv", ["pip"], ["show"], "text"],
      ["git", ["switch"], ["-c"], "text"],
      ["git", ["checkout"], ["bisect"], "other"],
      ["git", ["commit"], ["-m"], "text", ["submodule"]],
      ["npm", ["run"], ["x"], "text"],
      ["npm", ["--prefix"], ["/srv/app"], ["run"], ["x"], "text"],
      ["npm", ["-w"], ["api"], ["test"], "text"],
      ["yarn", ["workspace"], ["api"], ["test"], "text"],
      ["go", ["build", "vet"], "text"],
      ["go", ["test"], ["-run"], "text"],
      ["cargo", ["+nightly"], ["build"], "text"],
      ["cargo", ["--quiet"], ["build"], "text"],
    ] as [string, ...ArgumentValues[]][])
      expect(isOpen(program, ...values), JSON.stringify([program, ...values])).to.equal(true);
  });
});

/** Whether git runs a program of the caller's choice with these arguments, as git reads them. */
function runsSomething(call: readonly string[]): boolean {
  let at = 0;
  for (; call[at]?.startsWith("-"); at++) {
    if (call[at] === "-c") return true;
    if (["-C", "--git-dir"].includes(call[at] as string)) at++;
  }
  const [command = "", ...others] = call.slice(at);
  if (["submodule", "hook"].includes(command) || others.includes("--exec")) return true;
  return command === "rebase" && others.includes("-x");
}
