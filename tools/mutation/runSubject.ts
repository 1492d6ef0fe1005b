import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { type Choosable, chooseMutants, fillChoice, groupMutants } from "./chooseMutants.ts";
import { type Code, compile } from "./compiler.ts";
import { applyMutant, type Mutant } from "./mutant.ts";
import type { ScratchCopy } from "./scratchCopy.ts";
import { type Round, startTestWorker, type TestWorker } from "./startTestWorker.ts";
import type { Subject } from "./subjects.ts";

/**
 * The outcome of a mutant. `same` compiles to the contract's own code, `invalid` does not compile. `by` is
 * the test that killed it, `killer` that test's file in the repository.
 */
export type Outcome = Mutant & {
  outcome: "killed" | "survived" | "same" | "invalid";
  by?: string;
  killer?: string;
};

/** The most mutants of one group. With this number a contract usually stays below the chain's limit of code size. */
const GROUP = 50;
/** EIP-170, in hex digits. */
const CODE_LIMIT = 2 * 24_576;

/**
 * Runs the tests of a source file on each of its mutants.
 *
 * Compiling takes most of the time. So many mutants are compiled at once, without the optimizer, into one contract that
 * chooses between them. A mutant that fails a test there is killed. The other mutants, and those that such a contract
 * cannot contain, are compiled separately, exactly as the contract is deployed, and tested again. Only a mutant that
 * passes this counts as a survivor.
 *
 * @param survives whether a mutant is expected to survive; such a mutant is run alone from the beginning
 */
export async function runSubject(
  subject: Subject,
  mutants: readonly Mutant[],
  copy: ScratchCopy,
  survives: (mutant: Mutant) => boolean,
  report: (outcome: Outcome) => void,
): Promise<void> {
  const bench = await openBench(subject, copy);
  try {
    const together = mutants.filter(isChoosable).filter((mutant) => !survives(mutant));
    const alone = mutants.filter((mutant) => !together.includes(mutant as Choosable));
    for (const group of groupMutants(together, GROUP)) {
      alone.push(...(await runGroup(bench, group, report)));
    }
    for (const mutant of alone) report(await runAlone(bench, mutant));
  } finally {
    await bench.close();
  }
}

/** Everything that the mutants of one file share. */
type Bench = {
  source: string;
  baseline: Code[];
  compile: (text: string, quick: boolean) => ReturnType<typeof compile>;
  test: (codes: Code[], mutant?: Mutant) => ReturnType<TestWorker["round"]>;
  close: () => Promise<void>;
};

async function openBench({ file, targets, tests }: Subject, copy: ScratchCopy): Promise<Bench> {
  const name = `contracts/${file}`;
  const { folder } = copy;
  const source = readFileSync(path.join(folder, name), "utf8");
  const real = compile({ folder, source: name, targets });
  if ("errors" in real) throw new Error(`${name} does not compile: ${real.errors[0]?.message}`);
  const install = (codes: Code[]) =>
    targets.forEach((target, i) => {
      copy.install(target, codes[i] as Code);
    });
  const files = [...new Set(tests.flatMap((glob) => globSync(glob, { cwd: folder }).sort()))];
  const worker = startTestWorker(folder, files);
  // The test that killed one mutant of a function will usually kill the next one too.
  const killers = new Map<string, string[]>();

  const bench: Bench = {
    source,
    baseline: real.codes,
    compile: (text, quick) => compile({ folder, source: name, targets, replaced: { [name]: text }, quick }),
    test: async (codes, mutant) => {
      install(codes);
      const where = mutant?.id.split("|")[0] ?? "";
      const round = await worker.round([...(killers.get(where) ?? []), `${where}.test.ts`]);
      if (round.failed?.file) {
        const known = killers.get(where) ?? [];
        killers.set(where, [round.failed.file, ...known.filter((it) => it !== round.failed?.file)]);
      }
      return round;
    },
    close: async () => {
      await worker.stop();
      install(real.codes);
    },
  };
  const sound = await bench.test(real.codes);
  if (sound.failed || sound.passed === 0) {
    await bench.close();
    throw new Error(`the tests fail without a mutant: ${sound.failed?.test}`);
  }
  return bench;
}

/** Returns the mutants that must be run alone. */
async function runGroup(
  bench: Bench,
  group: readonly Choosable[],
  report: (outcome: Outcome) => void,
): Promise<Mutant[]> {
  if (group.length === 0) return [];
  const { text, places } = chooseMutants(bench.source, group);
  const compiled = bench.compile(text, true);
  if ("errors" in compiled) {
    const refused = new Set<Mutant>();
    for (const { start } of compiled.errors) {
      const place = places.find((it) => start !== undefined && it.start <= start && start < it.end);
      for (const mutant of place?.mutants ?? []) refused.add(mutant);
    }
    if (refused.size === 0) return halves(bench, group, report);
    const rest = group.filter((mutant) => !refused.has(mutant));
    return [...refused, ...(await runGroup(bench, rest, report))];
  }
  const filled = (number: number) =>
    compiled.codes.map(({ bytecode, deployedBytecode }) => ({
      bytecode: fillChoice(bytecode, number),
      deployedBytecode: fillChoice(deployedBytecode, number),
    }));
  const tooLong = compiled.codes.some(({ deployedBytecode }) => deployedBytecode.length > CODE_LIMIT);
  // With no mutant chosen, the contract must pass the tests.
  if (tooLong || (await bench.test(filled(0))).failed) return halves(bench, group, report);

  const passed: Mutant[] = [];
  for (const [i, mutant] of group.entries()) {
    const { failed } = await bench.test(filled(i + 1), mutant);
    if (failed) report(killed(mutant, failed));
    else passed.push(mutant);
  }
  return passed;
}

async function halves(
  bench: Bench,
  group: readonly Choosable[],
  report: (outcome: Outcome) => void,
): Promise<Mutant[]> {
  if (group.length === 1) return [...group];
  const middle = Math.ceil(group.length / 2);
  const first = await runGroup(bench, group.slice(0, middle), report);
  return [...first, ...(await runGroup(bench, group.slice(middle), report))];
}

async function runAlone(bench: Bench, mutant: Mutant): Promise<Outcome> {
  const compiled = bench.compile(applyMutant(bench.source, mutant), false);
  if ("errors" in compiled) return { ...mutant, outcome: "invalid" };
  if (JSON.stringify(compiled.codes) === JSON.stringify(bench.baseline))
    return { ...mutant, outcome: "same" };
  const { failed } = await bench.test(compiled.codes, mutant);
  return failed ? killed(mutant, failed) : { ...mutant, outcome: "survived" };
}

function killed(mutant: Mutant, { test, file }: NonNullable<Round["failed"]>): Outcome {
  const at = file.indexOf("test/contracts/");
  return { ...mutant, outcome: "killed", by: test, ...(at >= 0 && { killer: file.slice(at) }) };
}

function isChoosable(mutant: Mutant): mutant is Choosable {
  return mutant.choice !== undefined;
}
