import type { Address } from "tallystick-protocol/address";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import type { BreachStep, NotifierNode, Subscription } from "../../../services/notifying/notifierNode.ts";
import { openNotifier } from "../../../services/notifying/openNotifier.ts";
import type { Post } from "../../../services/notifying/post.ts";

export const KEY = `0x${"61".repeat(32)}` as const;
export const SENDER = privateKeyToAccount(KEY).address.toLowerCase() as Address;
export const [AGENT, BUYER] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as [Address, Address];
export const NOW = 1_767_225_600;
const BREACH = `brch_${"A".repeat(26)}`;

export const step = (change: Partial<BreachStep> = {}): BreachStep => ({
  ...{ agent: AGENT, breach: BREACH, step: "detected", record: null, time: NOW - 60 },
  ...{ metric: "uptime", window_days: 7, target: "0.99", breach_threshold: "0.95", value: "0.9" },
  penalty: { type: "temporary_suspension", duration: "7 days" },
  suspension: null,
  ...change,
});

export const subscription = (url: string, n = 1): Subscription => ({
  ...{ id: `nsub_${String(n).padStart(26, "0")}`, buyer: BUYER, url, agents: [AGENT], since: NOW - 3_600 },
});

/** A node without a time of its own: the time of its last tick is always the time of the sender's clock. */
export type TestNode = Pick<NotifierNode, "subscriptions"> & {
  stepsFrom: (
    ...asked: Parameters<NotifierNode["stepsFrom"]>
  ) => Promise<{ steps: BreachStep[]; finalBlock: number; time?: number | null }>;
};

/** A node that reports these steps, all in block 10, and these subscriptions. */
export const nodeOf = (steps: BreachStep[], subscriptions: Subscription[]): TestNode => ({
  stepsFrom: async (block) => ({ steps: block > 10 ? [] : steps, finalBlock: 10 }),
  subscriptions: async () => subscriptions,
});

type Setup = {
  node: TestNode;
  post: Post;
  store?: KeyValueStore;
  clock?: { ms: number };
  logged?: string[];
};

/** A sender of notices whose clock and node the test sets. Another sender can continue with the same store. */
export const openTestNotifier = ({
  node,
  post,
  store = memoryStore(),
  clock = { ms: NOW * 1_000 },
  logged = [],
}: Setup) =>
  openNotifier({
    config: {
      ...{ nodeUrl: "http://node.test", privateKey: KEY, folder: "", host: "", port: 0 },
      ...{ roundMs: 1_000, devMode: false },
    },
    log: (sentence, fields) => logged.push(`${sentence} ${fields?.reason ?? fields?.error ?? ""}`),
    now: () => clock.ms,
    ledger: "local",
    node: {
      ...node,
      stepsFrom: async (...asked) => ({
        time: Math.floor(clock.ms / 1_000),
        ...(await node.stepsFrom(...asked)),
      }),
    },
    ...{ post, store },
  });

/** A receiver that confirms its address and stores the ids of notices. `fails` says which attempts fail, and how. */
export function receiver(fails: (attempt: number) => "before" | "after" | "500" | null = () => null) {
  const taken: string[] = [];
  let attempts = 0;
  const post: Post = async ({ text, isRead }) => {
    const { body } = JSON.parse(text);
    if (isRead) return { status: 200, text: JSON.stringify({ challenge: body.challenge }) };
    const how = fails(attempts++);
    if (how === "before") throw new Error("connection refused");
    if (how === "500") return { status: 500, text: "" };
    taken.push(body.id);
    if (how === "after") throw new Error("connection reset");
    return { status: 204, text: "" };
  };
  return { post, taken };
}
