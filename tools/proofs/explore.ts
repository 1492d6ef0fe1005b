import { readFileSync } from "node:fs";
import path from "node:path";
import { type Contract, ContractFactory, type Interface } from "ethers";
import { network } from "hardhat";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

/**
 * The result of an exploration: the number of all reachable states, or the first step that broke a rule with
 * the path to it.
 */
export type Exploration = {
  states: number;
  steps: number;
  broken?: { rule: string; path: string[] };
  /** Verbs that never succeeded. The exploration proves nothing about them. */
  never: string[];
};

/** Seconds from the start until the deadline. */
const UNTIL_DEADLINE = 1_000_000;
const GAS = 30_000_000_000n;
/**
 * The number of ways in which a token can behave (`AbstractToken.Mood`). A step's number also encodes the
 * mood.
 */
export const ALL_MOODS = 6;

type Found = { hash: string; path: number[] };

/**
 * Tries everything that anybody can do with one hire on the given code. It starts from every state that it
 * reaches, until there are no new states. `contracts/test/exploration/Explorer.sol` defines the possible
 * steps and the rules.
 *
 * @param initCode the init code of HireEscrow, with 0x
 * @param moods the number of token moods to try
 * @param most the most states to continue from, before and after the deadline; if there are more states, the
 * result is not a proof
 */
export async function explore(
  initCode: string,
  { moods = ALL_MOODS, most = Number.POSITIVE_INFINITY } = {},
): Promise<Exploration> {
  // Expanding one state needs more gas than any real chain allows.
  const connection = await network.create({
    override: { hardfork: "cancun", blockGasLimit: GAS, allowUnlimitedContractSize: true },
  });
  try {
    const { ethers, networkHelpers } = connection;
    const [sender] = await ethers.getSigners();
    const { abi, bytecode } = artifact("test/exploration/Explorer");
    const gasLimit = GAS / 10n;
    const explorer = (await (
      await new ContractFactory(abi, bytecode, sender).deploy({ gasLimit })
    ).waitForDeployment()) as Contract;
    const call = (name: string, ...args: unknown[]) => explorer.getFunction(name).staticCall(...args);
    const escrow = await new ContractFactory(artifact("HireEscrow").abi, initCode, sender).deploy(
      await call("token"),
      await call("guardian"),
      "explored",
      { gasLimit },
    );
    const deadline = (await networkHelpers.time.latest()) + UNTIL_DEADLINE;
    await explorer.getFunction("begin")(await escrow.getAddress(), deadline, { gasLimit });

    const succeeded = new Set<bigint>();
    const [verbNames, roles, tokens] = [
      members("Explorer", "Verb"),
      members("Explorer", "Role"),
      members("AbstractToken", "Mood"),
    ];
    let steps = 0;
    let broken: Exploration["broken"];
    const describe = async (number: number) => {
      const it = await call("describe", number);
      const signed = it.signs ? `, signed by ${roles[it.signer]} for ${verbNames[it.said]}` : "";
      const about = !it.signs && verbNames[it.verb] === "Withdraw" ? ` of ${roles[it.signer]}` : "";
      return `${verbNames[it.verb]}${about} by ${roles[it.sender]}${signed}, token ${tokens[it.mood]}`;
    };

    const [early, late] = [new Map<string, number[]>(), new Map<string, number[]>()];

    const expanded = new Map([early, late].map((known) => [known, 0]));

    /** Explores every new state that is reachable from the current state of the chain. */
    async function closure(known: Map<string, number[]>, begin: Found): Promise<void> {
      known.set(begin.hash, begin.path);
      const waiting: number[][] = [[]];
      for (let path = waiting.shift(); path !== undefined && broken === undefined; path = waiting.shift()) {
        if (expanded.get(known) === most) return;
        expanded.set(known, (expanded.get(known) ?? 0) + 1);
        const [taken, tried] = await call("expand", path, moods, { gasLimit: GAS });
        steps += Number(tried);
        for (const { number, state, broken: rule } of taken) {
          const next = [...path, Number(number)];
          if (rule !== "") {
            const later = known === late ? ["(the deadline comes)"] : [];
            const described = (numbers: number[]) => Promise.all(numbers.map(describe));
            broken = { rule, path: [...(await described(begin.path)), ...later, ...(await described(next))] };
            return;
          }
          succeeded.add(await verbOf(Number(number)));
          if (known.has(state)) continue;
          known.set(state, [...begin.path, ...next]);
          waiting.push(next);
        }
      }
    }
    const verbs = new Map<number, bigint>();
    const verbOf = async (number: number): Promise<bigint> => {
      const place = Math.floor(number / ALL_MOODS);
      const verb: bigint = verbs.get(place) ?? (await call("describe", number)).verb;
      verbs.set(place, verb);
      return verb;
    };

    await closure(early, { hash: await call("state"), path: [] });
    for (const path of early.values()) {
      if (broken || expanded.get(late) === most) break;
      const undo = await networkHelpers.takeSnapshot();
      await explorer.getFunction("go")(path, { gasLimit });
      await networkHelpers.time.increaseTo(deadline);
      const hash = await call("state");
      if (!late.has(hash)) await closure(late, { hash, path });
      await undo.restore();
    }
    const never = verbNames.filter((_, i) => !succeeded.has(BigInt(i)));
    return { states: early.size + late.size, steps, never, ...(broken && { broken }) };
  } finally {
    await connection.close();
  }
}

function artifact(name: string): { abi: Interface; bytecode: string } {
  const file = path.join(repositoryRoot, "artifacts/contracts", `${name}.sol`, `${path.basename(name)}.json`);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** The names of an enum's members, which are not in the compiler's output. */
function members(contract: string, name: string): string[] {
  const file = path.join(repositoryRoot, "contracts/test/exploration", `${contract}.sol`);
  const body = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(readFileSync(file, "utf8"))?.[1] ?? "";
  return body
    .replace(/\/\/.*$/gm, "")
    .split(",")
    .map((it) => it.trim());
}
