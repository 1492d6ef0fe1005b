import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import {
  type Abi,
  createTestClient,
  custom,
  type Hex,
  publicActions,
  walletActions,
  zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { servePortal } from "../../../indexer/api/portal/servePortal.ts";
import type { ContractsAnswer, EscrowAnswer, NodeEscrow } from "../../../portal/escrow/escrowQuery.ts";
import { decimalOf } from "../../../portal/escrow/usdc.ts";
import { deployFrozen } from "../../../scripts/ignition/deployFrozen.ts";
import { freshChain } from "../../support/freshChain.ts";
import { builtPortal } from "./builtPortal.ts";

export type EscrowScene = Awaited<ReturnType<typeof openEscrowScene>>;

/** A person of the scene: a key whose account has ether and 1,000 USDC. */
export type Person = { key: Hex; address: Hex };

const PROVIDER = "swarmwage-partnered";
const STATUSES = ["HELD", "HELD", "RELEASED", "RELEASED", "REFUNDED", "TIMED_OUT"] as const;

/**
 * A chain with the released escrow, and a server that answers the portal like a node. A test may change the answers.
 */
export async function openEscrowScene() {
  const connection = await freshChain();
  const transport = custom(connection.provider as never);
  const client = createTestClient({
    chain: hardhat,
    mode: "hardhat",
    transport,
    cacheTime: 0,
    pollingInterval: 20,
  })
    .extend(publicActions)
    .extend(walletActions);
  const [admin] = (await client.getAddresses()) as [Hex];
  const deployed = await connection.ethers.deployContract("AdministeredUSDC", [admin]);
  const token = (await deployed.getAddress()).toLowerCase() as Hex;
  const tokenAbi = JSON.parse(deployed.interface.formatJson()) as Abi;
  const { hireEscrow } = await deployFrozen({ connection, token, guardian: admin, providerId: PROVIDER });
  const escrow = hireEscrow.toLowerCase() as Hex;
  const write = async (address: Hex, abi: Abi, functionName: string, args: unknown[], by: Hex = admin) => {
    const hash = await client.writeContract({
      address,
      abi,
      functionName,
      args,
      account: by,
      chain: hardhat,
    });
    await client.waitForTransactionReceipt({ hash });
  };
  const person = async (): Promise<Person> => {
    const key = generatePrivateKey();
    const address = privateKeyToAccount(key).address.toLowerCase() as Hex;
    await client.setBalance({ address, value: 10n ** 18n });
    await write(token, tokenAbi, "mint", [address, 1_000_000_000n]);
    return { key, address };
  };
  const people = {
    buyer: await person(),
    seller: await person(),
    arbiter: await person(),
    stranger: await person(),
  };
  const now = async () => Number((await client.getBlock()).timestamp);
  const hires = new Map<Hex, { hire: Hire; contract: Hex; deposited: number }>();

  const told = async (id: Hex): Promise<NodeEscrow | null> => {
    const found = hires.get(id);
    if (found === undefined) return null;
    const { hire, contract, deposited } = found;
    const state = await client.readContract({
      address: contract,
      abi: hireEscrowAbi,
      functionName: "stateOf",
      args: [id],
    });
    return {
      id,
      contract,
      provider: PROVIDER,
      hireId: hire.hireId,
      buyerAddress: hire.buyer,
      sellerAddress: hire.seller,
      payee: hire.payee === zeroAddress ? hire.seller : hire.payee,
      amountUsdc: decimalOf(hire.amount),
      feeUsdc: decimalOf(hire.fee),
      feeRecipient: hire.feeRecipient === zeroAddress ? null : hire.feeRecipient,
      deadline: Number(hire.deadline),
      arbiter: hire.arbiter === zeroAddress ? null : hire.arbiter,
      status: STATUSES[state.status] ?? "HELD",
      delivered: state.delivered,
      depositedTime: deposited,
      settledTime: null,
      toSellerUsdc: null,
      toBuyerUsdc: null,
      refundedBy: null,
      hire: null,
      steps: [{ kind: "DEPOSITED", time: deposited, tx: `0x${"de".repeat(32)}` }],
    };
  };
  const site = await serve(async (variables) => {
    const time = await now();
    const answer: EscrowAnswer & Pick<ContractsAnswer, "escrows"> = {
      meta: {
        chainId: hardhat.id,
        indexedBlock: Number(await client.getBlockNumber()),
        ledgers: [],
        blockedAtSegment: null,
        blockedAtTransfers: null,
        contracts: { escrows: [{ address: escrow, provider: PROVIDER }] },
        token: { address: token, domainName: "USD Coin", domainVersion: "2" },
      },
      escrow: variables.id === undefined ? null : await told(variables.id),
      escrows: { totalCount: 0, nodes: [] },
    };
    const asOf = { block: answer.meta.indexedBlock, time, digest: `0x${"d1".repeat(32)}` };
    return { data: answer, extensions: { asOf } };
  });
  return {
    ...site,
    connection,
    client,
    admin,
    token,
    tokenAbi,
    escrow,
    ...people,
    person,
    write,
    now,
    /** Puts 5 USDC of the buyer into the escrow. The deadline is an hour later. */
    deposit: async (change: Partial<Hire> = {}, contract: Hex = escrow): Promise<{ hire: Hire; id: Hex }> => {
      const hire: Hire = {
        hireId: generatePrivateKey(),
        buyer: people.buyer.address,
        seller: people.seller.address,
        payee: zeroAddress,
        amount: 5_000_000n,
        fee: 0n,
        feeRecipient: zeroAddress,
        deadline: BigInt((await now()) + 3_600),
        arbiter: people.arbiter.address,
        ...change,
      };
      const id = escrowId(hire, { chainId: hardhat.id, escrow: contract });
      // The buyer pays by allowance. The test chain can send from every account without its key.
      await client.impersonateAccount({ address: hire.buyer });
      await write(token, tokenAbi, "approve", [contract, hire.amount], hire.buyer);
      await write(contract, hireEscrowAbi as Abi, "deposit", [hire], hire.buyer);
      hires.set(id, { hire, contract, deposited: await now() });
      return { hire, id };
    },
    /** A released escrow for a token that takes no payment by signature. The buyer has 1,000 units of this token. */
    plain: async (): Promise<{ token: Hex; tokenAbi: Abi; escrow: Hex }> => {
      const plainToken = await connection.ethers.deployContract("ManagedUSDC", [admin, admin]);
      const plainAbi = JSON.parse(plainToken.interface.formatJson()) as Abi;
      const address = (await plainToken.getAddress()).toLowerCase() as Hex;
      const terms = { token: address, guardian: admin, providerId: PROVIDER };
      const { hireEscrow } = await deployFrozen({ connection, ...terms });
      await write(address, plainAbi, "configureMinter", [admin, 1_000_000_000n]);
      await write(address, plainAbi, "mint", [people.buyer.address, 1_000_000_000n]);
      return { token: address, tokenAbi: plainAbi, escrow: hireEscrow.toLowerCase() as Hex };
    },
    /** The escrow's state in the contract. */
    state: (id: Hex, contract: Hex = escrow) =>
      client.readContract({ address: contract, abi: hireEscrowAbi, functionName: "stateOf", args: [id] }),
    balance: async (account: Hex): Promise<bigint> =>
      (await client.readContract({
        address: token,
        abi: tokenAbi,
        functionName: "balanceOf",
        args: [account],
      })) as bigint,
    /** Mines a block at this time, so that the chain's clock is there. */
    passTo: async (time: bigint) => {
      await client.setNextBlockTimestamp({ timestamp: time });
      await client.mine({ blocks: 1 });
    },
    /** From now on the node reports this escrow, which the page deposited. */
    tell: async (hire: Hire, id: Hex) =>
      void hires.set(id, { hire, contract: escrow, deposited: await now() }),
  };
}

type Respond = (variables: { id?: Hex }) => Promise<object>;

/** Serves the portal, and answers its queries. */
async function serve(respond: Respond) {
  const { folder } = await builtPortal();
  const node = { change: (json: string) => json };
  const app = new Hono();
  app.route("/", servePortal(folder));
  app.post("/graphql", async (context) => {
    const { variables = {} } = await context.req.json();
    const text = node.change(JSON.stringify(await respond(variables)));
    return context.body(text, 200, { "content-type": "application/json" });
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    folder,
    /** A test changes the node's answers with `change`, so that the node lies. */
    node,
    close: async () => {
      await new Promise<void>((closed) => {
        server.close(() => closed());
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    },
  };
}
