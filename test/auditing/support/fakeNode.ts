import type { OperatorNode } from "../../../services/auditing/operatorNode.ts";

/** A node without any work, except for the given answers. It has a new tick whenever its status is asked. */
export function fakeNode(pool: string, changes: Partial<OperatorNode> = {}): OperatorNode {
  let time = 1;
  return {
    status: async () => ({ time: time++, isBlocked: false }),
    rules: async () => ({
      pool: pool as `0x${string}`,
      auditArbiters: [],
      fees: [{ from: 0n, fee: 5_000n }],
    }),
    openAssignments: async () => [],
    accounts: async () => [],
    rolledBackEscrows: async () => ({ held: [], settled: [], unread: new Set<string>() }),
    challenged: async () => [],
    anchoredAt: async () => undefined,
    ...changes,
  };
}
