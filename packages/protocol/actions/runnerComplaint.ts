import { programName } from "./programName.ts";

/**
 * Programs that run other programs, or text from their arguments or from files. The names have no versions: `python`
 * also means `python3` and `python3.12`.
 */
const RUNNERS: ReadonlySet<string> = new Set(
  // Shells
  (
    "sh bash dash ash rbash zsh ksh mksh pdksh yash posh fish csh tcsh rc es elvish nu xonsh ysh osh busybox toybox cmd " +
    "powershell pwsh osascript git-shell rsh mosh ssh autossh sshpass scp sftp rsync " +
    // Programs that start another program: as another user, with a limit, at another time, elsewhere
    "env sudo su doas runuser pkexec gosu su-exec setpriv capsh chroot fakechroot fakeroot proot schroot unshare nsenter " +
    "bwrap firejail nohup setsid nice ionice chrt taskset numactl prlimit cpulimit cgexec timeout gtimeout time stdbuf unbuffer " +
    "script expect flock setarch linux32 linux64 xargs parallel find fd fdfind watch watchexec entr nodemon chronic at batch " +
    "crontab screen tmux dtach abduco daemonize start-stop-daemon systemd-run systemd-nspawn machinectl supervise runsv tini " +
    "dumb-init dbus-run-session dbus-launch xvfb-run ssh-agent faketime eatmydata proxychains torsocks exec eval command " +
    "strace ltrace gdb lldb rr valgrind perf hyperfine wine ansible ansible-playbook " +
    "rlwrap trickle catchsegv rundll32 wscript cscript mshta regsvr32 wsl " +
    // Containers
    "docker docker-compose podman podman-compose nerdctl ctr crictl buildah lxc lxc-attach incus kubectl oc vagrant flatpak " +
    "snap distrobox toolbox apptainer singularity nix nix-shell nix-build guix " +
    // Interpreters, and tools whose files or lines are programs
    "python pythonw pypy ipython jython micropython easy_install node nodejs deno bun tsx ts-node ts-node-esm ts-node-script babel-node " +
    "vite-node swc-node jiti esno qjs d8 perl raku ruby irb jruby php " +
    "php-cgi lua luajit texlua tclsh wish java javaw jshell jbang groovy kotlin scala clojure clj bb awk gawk mawk nawk goawk " +
    "sed gsed ssed ed red ex vi view vim rvim gvim nvim emacs emacsclient guile racket scheme csi sbcl clisp ecl gforth runghc " +
    "runhaskell ghci ocaml elixir iex erl escript julia r rscript octave octave-cli matlab sqlite psql mysql mariadb mongosh " +
    "gnuplot m4 tex latex pdftex pdflatex xelatex lualatex dotnet mono csharp fsi swift crystal dart frida gdbserver " +
    // Programs that build, and so run what a file says
    "make gmake bmake nmake remake ninja samu cmake ctest meson just task rake ant mvn mvnw gradle gradlew sbt bazel bazelisk " +
    "buck scons tox nox invoke fab tar bsdtar gtar " +
    // Programs that fetch a program and run it, or choose which version of it runs
    "npx bunx pnpx dlx uvx pipx corepack conda mamba micromamba pixi asdf mise direnv pyenv rbenv nodenv nvm volta fnm"
  ).split(" "),
);

/**
 * Programs of which some words run other programs, and these words. Their other words may have free arguments. A word
 * counts in the place of the command. Two words count if the second comes anywhere after this command. A long option
 * counts anywhere, and an option with one letter counts before the command.
 */
const RUNNING_WORDS: { readonly [program: string]: readonly string[] } = {
  // A package that is installed runs its scripts.
  npm: (
    "exec x init innit create explore install i in ins inst insta instal isnt isnta isntal isntall add install-test it " +
    "link ln --script-shell --node-options"
  ).split(" "),
  pnpm: ["exec", "dlx", "create", "install", "i", "add", "link", "ln", "--script-shell", "--node-options"],
  yarn: ["exec", "dlx", "create", "node", "install", "add", "link", "global", "plugin", "set"],
  pip: ["install", "download", "wheel"],
  uv: ["run", "tool", "add", "pip install", "pip sync", "pip compile"],
  poetry: ["run", "add"],
  pipenv: ["run", "install"],
  pdm: ["run", "add"],
  rye: ["run", "add", "install", "tools"],
  hatch: ["run"],
  bundle: ["exec", "add"],
  gem: ["exec", "install", "i"],
  composer: ["exec", "global", "require"],
  go: [
    ...["run", "generate", "tool", "install"],
    ...["test -exec", "test -toolexec", "build -toolexec", "vet -vettool"],
  ],
  cargo: ["run", "r", "install", "binstall", "--config"],
  rustup: ["run"],
  stack: ["exec", "run", "runghc", "script", "install"],
  cabal: ["exec", "run", "install", "v2-exec", "v2-run", "v2-install"],
  opam: ["exec", "install"],
  lein: ["exec"],
  mix: ["run", "eval", "cmd", "do", "archive.install", "escript.install"],
  zig: ["run", "build"],
  nim: ["r", "e", "c -r", "compile -r", "--run"],
  nimble: ["install"],
  lerna: ["exec"],
  nx: ["exec"],
  "pre-commit": ["try-repo"],
  git: [
    ...["bisect", "submodule", "filter-branch", "difftool", "mergetool", "hook", "shell", "remote-ext"],
    ...["for-each-repo", "rebase -x", "-c", "--exec", "--upload-pack", "--receive-pack"],
  ],
};

/** Words after which another command follows, at once or after a name. */
const WRAPPING_WORDS: { readonly [program: string]: readonly string[] } = {
  pnpm: ["recursive", "multi", "m"],
  yarn: ["workspace", "workspaces", "foreach"],
  hatch: ["env"],
  opam: ["config"],
  lein: ["do", "with-profile", "with-profiles", "trampoline"],
};

/**
 * Options that have no value of their own. The word after any other option may be its value, and then the command is
 * a later word.
 */
const FLAGS: ReadonlySet<string> = new Set(
  (
    "-q -s -v -vv -y -g -r --quiet --silent --verbose --yes --global --recursive --offline --locked --frozen --paginate " +
    "--bare --json --ignore-scripts"
  ).split(" "),
);

/** A loader, which runs the program that it gets: `ld-linux-aarch64.so.1`, `ld-musl-x86_64.so.1`, `ld64.so.2`. */
const LOADER = /^ld(?:32|64)?(?:-.+)?\.so(?:\.[\d.]*)?$/;

/**
 * The version at the end of a program's name: digits and dots. Letters belong to it only after a dotted version
 * (`python3.13t`), because `r10k` is a name.
 */
const VERSION = /(?:[-.]?\d+(?:\.\d+)+[a-z]{1,2}|[-.]?\d[\d.]*|\.+)$/;

/** One argument of a rule: the values that it may have. `text` is any word, `other` is never a word. */
export type ArgumentValues = readonly string[] | "text" | "other";

/**
 * Why a program runs what its arguments say; undefined when it does not. The list of such programs cannot be complete.
 *
 * @param program its name, or its path. Case and an ending such as `.exe` do not matter
 * @param values what each argument may be, in their order
 */
export function runnerComplaint(program: string, values: readonly ArgumentValues[]): string | undefined {
  const whole = plainName(program);
  const name = whole.replace(VERSION, "");
  if (RUNNERS.has(name) || RUNNERS.has(whole) || LOADER.test(whole)) return `${whole} runs its arguments`;
  const running = wordsOf(RUNNING_WORDS, name);
  if (running.length === 0) return undefined;
  const { atMost, isFree } = commandPlace(values, wordsOf(WRAPPING_WORDS, name));
  const found = running.find((word) => isNamed(word, values, atMost));
  if (found !== undefined) return `${name} ${found} runs its arguments`;
  return isFree ? `${name} can run what they name` : undefined;
}

/**
 * How many of the values come before the command has certainly been named, with the command itself; and whether one of
 * them is free, so that it may become the command.
 */
function commandPlace(
  values: readonly ArgumentValues[],
  wrapping: readonly string[],
): { atMost: number; isFree: boolean } {
  let mayBeValue = false;
  for (const [at, value] of values.entries()) {
    if (value === "text") return { atMost: at, isFree: true };
    const literals = value === "other" ? [] : value;
    const areWords = literals.length > 0 && literals.every((it) => isWord(it) && !wrapping.includes(it));
    if (areWords && !mayBeValue) return { atMost: at + 1, isFree: false };
    mayBeValue = literals.some((it) => wrapping.includes(it) || mayTakeValue(it));
  }
  return { atMost: values.length, isFree: false };
}

/** Whether literals of a rule contain a running word, at a place where it counts. */
function isNamed(word: string, values: readonly ArgumentValues[], atMost: number): boolean {
  const [first = "", second] = word.split(" ");
  const within = first.startsWith("--") ? values.length : atMost;
  const at = values.findIndex((it, place) => place < within && typeof it !== "string" && it.includes(first));
  if (at < 0 || second === undefined) return at >= 0;
  return values.slice(at + 1).some((it) => typeof it !== "string" && it.some((each) => isSame(each, second)));
}

/** Whether an argument is a word, or an option with one letter, alone or behind others: `-ix` has `-x`. */
function isSame(argument: string, word: string): boolean {
  if (argument === word) return true;
  const letter = /^-([A-Za-z])$/.exec(word)?.[1];
  return letter !== undefined && /^-[A-Za-z]+$/.test(argument) && argument.endsWith(letter);
}

/** Whether a word can name a command: it is no option, path, toolchain (`+nightly`), truth value or number. */
function isWord(value: string): boolean {
  return !/^(?:[-/+.]|$|true$|false$|null$|\d+$)/.test(value);
}

function mayTakeValue(value: string): boolean {
  return /^-[^=]*$/.test(value) && !/^--no-/.test(value) && !FLAGS.has(value);
}

function wordsOf(table: typeof RUNNING_WORDS, name: string): readonly string[] {
  return (Object.hasOwn(table, name) ? table[name] : undefined) ?? [];
}

/** The name of a program without its folder, its case and its ending. */
function plainName(program: string): string {
  return programName(program)
    .toLowerCase()
    .replace(/\.(?:exe|com|cmd|bat|ps1|static)$/, "")
    .replace(/-(?:static|dbg|debug)$/, "");
}
