import type { CrashChain, CrashFlow } from "./crashAtEveryWrite.ts";
import { AGENT_KEY, failure, NOW, type Step } from "./settlementClient.ts";

const together =
  (...steps: Step[]): Step =>
  async (client) => {
    await Promise.all(steps.map((step) => step(client)));
  };
const propose =
  (task: string): Step =>
  (client) =>
    client.propose(task);
const receipt =
  (number: number): Step =>
  (client) =>
    client.receipt(number);

/** Proposals and receipts, some of them at the same time, settled and anchored by a relayer. */
export function anchoredFlow(chain: CrashChain): CrashFlow {
  return {
    name: "settled, with a receipt, and anchored",
    chain,
    entries: 5,
    steps: [propose("one"), receipt(1), together(propose("two"), propose("three"), receipt(2))],
  };
}

/** Proposals that wait for a person: one is released, one is rejected. */
export const heldFlow: CrashFlow = {
  name: "held, and released or rejected",
  entries: 4,
  steps: [
    (client) => client.hold("doubted"),
    (client) => client.hold("worse"),
    propose("sure"),
    (client) => client.review("doubted", "release"),
    (client) => client.review("worse", "reject"),
  ],
};

/** A stake on a task, and the two votes that make it final. */
export const verdictFlow: CrashFlow = {
  name: "staked, and agreed on",
  entries: 4,
  steps: [
    (client) => client.listing(),
    (client) => client.say("stake", "task-9", 0),
    together(
      (client) => client.say("verify", "task-9", 1),
      (client) => client.say("verify", "task-9", 2),
    ),
    async (client) => {
      if (!(await client.isFinal("task-9"))) throw failure("the swarm's verdict is lost");
    },
  ],
};

/** An agent's proposals of one hour, settled and rejected, and the operator's record of their outcomes. */
export const outcomesFlow: CrashFlow = {
  name: "settled or rejected, and told when the hour is over",
  tells: true,
  entries: 4,
  steps: [
    (client) => client.propose("good", AGENT_KEY),
    (client) => client.reject("unsure"),
    together(
      (client) => client.propose("better", AGENT_KEY),
      (client) => client.reject("worse"),
    ),
    propose("of nobody"),
    (client) => client.outcomes(NOW / 3_600, 2),
  ],
};

/** What a client may do next, and how many entries that makes. `number` is different each time. */
const WISHES: ((number: number) => { steps: Step[]; entries: number })[] = [
  (number) => ({ steps: [propose(`task-${number}`)], entries: 1 }),
  (number) => ({ steps: [receipt(number)], entries: 1 }),
  (number) => ({
    steps: [together(propose(`task-${number}`), receipt(number), propose(`other-${number}`))],
    entries: 3,
  }),
  (number) => ({
    steps: [
      (client) => client.hold(`held-${number}`),
      (client) => client.review(`held-${number}`, "release"),
    ],
    entries: 2,
  }),
  (number) => ({
    steps: [
      (client) => client.hold(`held-${number}`),
      propose(`task-${number}`),
      (client) => client.review(`held-${number}`, "reject"),
    ],
    entries: 2,
  }),
  (number) => ({
    steps: [
      (client) => client.say("stake", `staked-${number}`, 0),
      (client) => client.say("verify", `staked-${number}`, 1),
    ],
    entries: 2,
  }),
];

/** A few random steps, one after the other. */
export function randomFlow(name: string, random: () => number, chain?: CrashChain): CrashFlow {
  const wishes = Array.from({ length: 2 + Math.floor(random() * 5) }, (_, number) =>
    (WISHES[Math.floor(random() * WISHES.length)] as (typeof WISHES)[number])(number),
  );
  return {
    name,
    steps: wishes.flatMap(({ steps }) => steps),
    entries: wishes.reduce((sum, { entries }) => sum + entries, 0),
    ...(chain && { chain }),
  };
}
