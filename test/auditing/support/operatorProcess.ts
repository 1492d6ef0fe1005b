// An operator's process that kills itself at a call to the chain. Run it by `node operatorProcess.ts`, with its task
// in OPERATOR_TASK.
import { custom, http } from "viem";
import type { AuditingConfig } from "../../../services/auditing/config.ts";
import { openOperator } from "../../../services/auditing/openOperator.ts";
import { fakeNode } from "./fakeNode.ts";

/**
 * The task of one process. `killAt`: the method of a call, and whether the process ends before or after the chain gets
 * the call.
 */
export type OperatorTask = {
  config: Omit<AuditingConfig, "budget" | "least">;
  pool: string;
  /** Answers with the accrued amounts, and with the paid amounts from the chain: `[auditor, accrued, paid]`. */
  accountsUrl: string;
  killAt: { method: string; when: "before" | "after" } | null;
  rounds: number;
};

const task = JSON.parse(process.env.OPERATOR_TASK ?? "") as OperatorTask;
const { config, killAt } = task;

function killed(method: string, when: "before" | "after"): void {
  if (killAt?.method === method && killAt.when === when) process.kill(process.pid, "SIGKILL");
}

const chain = http(config.rpcUrl)({});
const transport = custom({
  request: async ({ method, params }: { method: string; params?: unknown }) => {
    killed(method, "before");
    const answer = await chain.request({ method, params } as never);
    killed(method, "after");
    return answer;
  },
});

const operator = await openOperator({
  config: { ...config, budget: 1_000_000n, least: 1_000n },
  log: (sentence, fields) => console.error(sentence, fields),
  now: Date.now,
  transport,
  node: fakeNode(task.pool, {
    accounts: async () => {
      const rows = (await (await fetch(task.accountsUrl)).json()) as [`0x${string}`, string, string][];
      return rows.map(([auditor, accrued, paid]) => ({
        ...{ auditor, accrued: BigInt(accrued), paid: BigInt(paid) },
      }));
    },
  }),
});
for (let n = 0; n < task.rounds; n++) await operator.round();
await operator.close();
process.stdout.write(`${JSON.stringify({ failures: operator.state().failures })}\n`);
