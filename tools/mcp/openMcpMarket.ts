import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { serve } from "@hono/node-server";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createClarification } from "tallystick-sdk/clarify/createClarification";
import { createSeller, type Seller } from "tallystick-sdk/createSeller";
import { httpRelay } from "tallystick-sdk/escrow/httpRelay";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { createLocalFacilitator } from "tallystick-sdk/x402/localFacilitator";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createProgress } from "../../scripts/cli/progress.ts";
import { actors } from "../../scripts/demo/actors.ts";
import { type DemoNode, startDemoNode } from "../../scripts/demo/startDemoNode.ts";
import { runKeeper } from "../../scripts/keeper/runKeeper.ts";
import { freePort } from "../../scripts/processes/freePort.ts";
import type { Supervisor } from "../../scripts/processes/openSupervisor.ts";
import { addKey } from "../../services/settlement/keys/keyFile.ts";

/** A custom capability, which a buyer clarifies before the hire. */
export const HEADLINES = "custom.press.headlines";

/** Rules that allow one action: deleting in a build folder, except in its folder `release`. */
const RULES = {
  version: 1,
  action_rules: {
    version: 1,
    rules: [
      {
        id: "clean-build",
        allow: true,
        type: "deletion",
        path: { within: "/srv/app/build" },
        recursive: true,
      },
      { id: "keep-release", allow: false, type: "deletion", path: { within: "/srv/app/build/release" } },
    ],
  },
};

/** The key of the second account that has ether on a local chain. */
const KEEPER_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/** The demo's escrow. The setting TALLYSTICK_ESCROWS has the same fields for each payment mode. */
type MarketEscrow = { escrow: Address; relay: string; feeRecipient: Address };

/**
 * A demo node with two sellers, a keeper, a wallet with 10 USDC, and an API key for settlement. One seller is also paid
 * by escrow. The keeper serves that escrow.
 */
export type McpMarket = {
  node: DemoNode;
  network: PaymentNetwork;
  escrows: { [paymentMode: string]: MarketEscrow };
  buyer: { privateKey: Hex; address: Address };
  apiKey: string;
  /** Mines blocks, so that the indexer reaches its next tick. */
  mine: (blocks: number) => Promise<void>;
  close: () => Promise<void>;
};

/** Starts the node, the keeper and the sellers, gives the wallet its money, and makes the API key. */
export async function openMcpMarket(
  supervisor: Supervisor,
  folder: string,
  signal: AbortSignal,
): Promise<McpMarket> {
  const rulesFile = path.join(folder, "rules.json");
  await mkdir(folder, { recursive: true });
  await writeFile(rulesFile, JSON.stringify(RULES));
  const progress = createProgress();
  const node = await startDemoNode({
    supervisor: withRules(supervisor, rulesFile),
    folder,
    progress,
    signal,
  });
  const { chainId, token } = node.deployment;
  const network: PaymentNetwork = { chainId, token, name: "USD Coin", version: "2" };
  const sender = createTransactionSender({
    account: actors.relayer.account,
    chainId,
    rpc: node.rpcUrl,
    pollingMs: 100,
  });
  const common = { baseUrl: node.url, network, facilitator: createLocalFacilitator({ sender, chainId }) };
  const { hireEscrow } = node.deployment;
  const escrow = hireEscrow.address.toLowerCase() as Address;
  const escrowKeeper = await runKeeper({
    rpcUrl: node.rpcUrl,
    chainId,
    escrow,
    privateKey: KEEPER_KEY,
    host: "127.0.0.1",
    port: 0,
    folder: path.join(folder, "keeper"),
    startBlock: 0n,
    roundMs: 200,
    feeRecipient: actors.operator.address,
    minAmount: 10_000n,
    gasPerBuyer: 1_000_000,
    gasPerWallet: 200_000,
    requestsPerAddress: 600,
    trustedProxies: 0,
  });
  const mode = `platform_escrow:${hireEscrow.providerId}`;
  const escrows = { [mode]: { escrow, relay: escrowKeeper.url, feeRecipient: actors.operator.address } };
  const closings = [await openStatistics(common, escrows), await openPress(common), escrowKeeper.close];
  const privateKey = generatePrivateKey();
  const address = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
  const mint = { address: token, abi: testUsdcAbi, functionName: "mint" };
  await sender.sendAndWait({ ...mint, args: [address, 10_000_000n] });
  const { key } = await addKey(path.join(folder, "ledger", "keys.json"), "mcp", Date.now() / 1000);
  return {
    node,
    network,
    escrows,
    buyer: { privateKey, address },
    apiKey: key,
    mine: async (blocks) => {
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "hardhat_mine",
        params: [`0x${blocks.toString(16)}`],
      });
      await fetch(node.rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
    },
    close: async () => {
      for (const close of closings) await close();
    },
  };
}

/** Returns a supervisor that starts the demo's settlement with rules for actions. */
function withRules(supervisor: Supervisor, rulesFile: string): Supervisor {
  return {
    ...supervisor,
    start: (spec) =>
      supervisor.start(
        spec.name === "settlement" ? { ...spec, env: { ...spec.env, RULES_FILE: rulesFile } } : spec,
      ),
  };
}

type Common = Pick<Parameters<typeof createSeller>[0], "baseUrl" | "network" | "facilitator">;

async function openStatistics(common: Common, escrows: McpMarket["escrows"]): Promise<() => Promise<void>> {
  const account = privateKeyToAccount(generatePrivateKey());
  const { network } = common;
  const median = {
    capability: "compute.statistics.median",
    max_latency_ms: 3000,
    verification_version: "v1",
  };
  const modes = Object.fromEntries(
    Object.entries(escrows).map(([mode, { relay, ...escrow }]) => [
      mode,
      escrowMode({ account, network, ...escrow, relay: httpRelay({ url: relay }) }),
    ]),
  );
  return await serving(async (endpoint) =>
    createSeller({
      ...common,
      account,
      endpoint,
      store: memoryStore(),
      devMode: true,
      listings: [
        { ...median, price_usdc: "0.02" },
        ...Object.keys(modes).map((mode) => ({ ...median, price_usdc: "0.03", payment_mode: mode })),
      ],
      modes,
      handlers: {
        "compute.statistics.median": ({ data }) => {
          const sorted = [...(data as number[])].sort((a, b) => a - b);
          const at = (index: number): number => sorted[index] ?? 0;
          return { result: (at((sorted.length - 1) >> 1) + at(sorted.length >> 1)) / 2 };
        },
      },
    }),
  );
}

async function openPress(common: Common): Promise<() => Promise<void>> {
  const account = privateKeyToAccount(generatePrivateKey());
  const desk = createClarification({
    account,
    store: memoryStore(),
    capabilities: [HEADLINES],
    // Each headline costs ten cents. What the buyer writes in the brief does not change the price.
    answer: ({ params: { count, ...params } }) => {
      const wanted = Math.min(10, Math.max(1, Number(count ?? 3)));
      const priceUsdc = (wanted / 10).toFixed(2);
      return { quote: { priceUsdc, estimatedLatencyMs: 1000, params: { ...params, count: wanted } } };
    },
  });
  return await serving(async (endpoint) => {
    const seller = await createSeller({
      ...common,
      account,
      endpoint,
      store: memoryStore(),
      devMode: true,
      listings: [
        { capability: HEADLINES, price_usdc: "0.10", max_latency_ms: 3000, clarification_supported: true },
      ],
      handlers: { [HEADLINES]: headlines },
      schemas: {
        [HEADLINES]: {
          input: { type: "object", properties: { subject: { type: "string" }, count: { type: "integer" } } },
          output: {
            type: "object",
            properties: { headlines: { type: "array", items: { type: "string" } } },
            required: ["headlines"],
          },
        },
      },
      redeemQuote: desk.redeemQuote,
    });
    seller.app.route("/", desk.app);
    return seller;
  });
}

function headlines({ subject, count }: { [key: string]: unknown }): { headlines: string[] } {
  const about = String(subject);
  const forms = [
    `${about}: what changes, and for whom`,
    `Five questions about ${about}`,
    `Why ${about} took so long`,
    `Who pays for ${about}?`,
  ];
  return { headlines: Array.from({ length: Number(count) }, (_, at) => forms[at % forms.length] as string) };
}

/** Starts a seller on a free port, publishes its offers, and returns the function that ends it. */
async function serving(open: (endpoint: string) => Promise<Seller>): Promise<() => Promise<void>> {
  const port = await freePort();
  const seller = await open(`http://127.0.0.1:${port}`);
  const server = serve({ fetch: seller.app.fetch, hostname: "127.0.0.1", port });
  await seller.resume();
  await seller.publish();
  return async () => {
    server.close();
    await seller.close();
  };
}
