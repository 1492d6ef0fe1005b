import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { commands } from "../../scripts/cli/commands.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { rooms } from "../../tools/mutation/typescript/rooms.ts";

type Step = { uses?: string; run?: string };
type Job = { steps: Step[]; strategy?: { matrix?: { include?: { run?: string }[]; room?: string[] } } };
type Workflow = { name: string; permissions: unknown; jobs: { [name: string]: Job } };

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), "utf8");
const files = globSync(".github/**/*.yml", { cwd: repositoryRoot }).sort();
const workflows = files
  .filter((file) => file.startsWith(".github/workflows/"))
  .map((file) => [file, parse(read(file)) as Workflow] as const);
const { scripts } = JSON.parse(read("package.json")) as { scripts: { [name: string]: string } };

/** Every line that a job runs, also the lines in its matrix. */
const runsOf = ({ steps, strategy }: Job): string[] =>
  [...steps, ...(strategy?.matrix?.include ?? [])].flatMap(({ run }) => (run === undefined ? [] : [run]));
const runs = workflows.flatMap(([, { jobs }]) => Object.values(jobs).flatMap(runsOf));

describe("the workflows", () => {
  it("are valid YAML, like everything in .github", () => {
    expect(workflows.map(([file]) => path.basename(file))).to.include.members(["ci.yml", "nightly.yml"]);
    for (const file of files) expect(parse(read(file)), file).to.be.an("object");
  });

  it("run only existing npm scripts, tests and programs", () => {
    expect(runs).to.include(".ci/run");
    for (const run of runs.filter((it) => !it.startsWith("${{"))) {
      const [, script = ""] = /\bnpm (?:run )?([\w:]+)/.exec(run) ?? [];
      const program = run.split(" ")[0] as string;
      if (script === "") expect(existsSync(path.join(repositoryRoot, program)), run).to.equal(true);
      else expect(scripts, run).to.have.property(script);
      for (const [file] of run.matchAll(/\btest\/[\w/.]+/g))
        expect(existsSync(path.join(repositoryRoot, file)), run).to.equal(true);
    }
  });

  it("mutate only existing rooms, or parts of rooms", () => {
    const jobs = workflows.flatMap(([, workflow]) => Object.values(workflow.jobs));
    const mutated = jobs.flatMap(({ strategy }) => strategy?.matrix?.room ?? []);
    const names = rooms.flatMap(({ name }) => [name, name.split("/")[0]]);
    expect(mutated).to.not.deep.equal([]);
    expect(names).to.include.members(mutated);
  });

  it("name each action by its commit, and can only read the repository", () => {
    for (const [file, { permissions, jobs }] of workflows) {
      expect(permissions, file).to.deep.equal({ contents: "read" });
      for (const { uses } of Object.values(jobs).flatMap(({ steps }) => steps))
        if (uses !== undefined) expect(uses, file).to.match(/^actions\/[\w-]+@[0-9a-f]{40}$/);
    }
  });
});

describe("the npm scripts", () => {
  it("name existing commands and files", () => {
    const names = commands.map(({ name }) => name);
    for (const [script, line] of Object.entries(scripts)) {
      const [, command] = /bootstrap\.mjs ([\w-]+)/.exec(line) ?? [];
      if (command !== undefined) expect(names, script).to.include(command);
      for (const [file] of line.matchAll(/\b(?:tools|scripts)\/[\w/.-]+/g))
        expect(existsSync(path.join(repositoryRoot, file)), script).to.equal(true);
    }
  });
});

describe(".editorconfig", () => {
  it("has the same settings as the formatter", () => {
    const { formatter } = JSON.parse(read("biome.json"));
    const sections = read(".editorconfig").split(/^\[/m);
    const settingOf = (section: string, name: string) =>
      new RegExp(`^${name} = (.*)$`, "m").exec(sections.find((it) => it.startsWith(section)) ?? "")?.[1];
    expect(settingOf("*]", "indent_style")).to.equal(formatter.indentStyle);
    expect(settingOf("*]", "indent_size")).to.equal(String(formatter.indentWidth));
    expect(settingOf("*.{ts", "max_line_length")).to.equal(String(formatter.lineWidth));
  });
});
