import { hexlify, type Log, randomBytes, toBeHex } from "ethers";
import type { HireEscrow } from "../../../../types/ethers-contracts/index.ts";
import type { TestUSDC } from "../../../../types/ethers-contracts/test/index.ts";
import { reportOf } from "../batch.ts";
import type { Chain } from "../chain.ts";
import type { Hire } from "../hire.ts";
import { wrap6492 } from "../world.ts";
import { type AccountKind, newCast } from "./cast.ts";
import { type Fault, ROLES, type Role, type Situation, type Verb, type Way } from "./rules.ts";
import { type Domains, digestOf, RESULT, sign, TO_SELLER, type Word } from "./words.ts";

const AMOUNT = 500_000n;
const FEE = 25_001n;
const GAS = 8_000_000n;
/** The fees of each transaction. Without them Hardhat sends another request to get them. */
const FEES = { maxFeePerGas: toBeHex(10n ** 10n), maxPriorityFeePerGas: toBeHex(10n ** 9n) };
/** The duration of the guardian's pause in the matrix. */
export const PAUSE = 3_600n;

/** A hire and its state. */
export type Staged = { hire: Hire; situation: Situation };

export type MatrixWorld = Awaited<ReturnType<typeof newMatrixWorld>>;

/** An escrow with accounts of one kind and a hire in every state, and everything that a cell of the matrix needs. */
export async function newMatrixWorld(chain: Chain, kind: AccountKind) {
  const { ethers, networkHelpers } = chain;
  const { provider } = ethers;
  const cast = await newCast(chain, kind);
  const token = (await ethers.deployContract("TestUSDC")) as unknown as TestUSDC;
  const tokenAddress = await token.getAddress();
  const escrow = (await ethers.deployContract("HireEscrow", [
    tokenAddress,
    cast.guardian.address,
    "matrix",
  ])) as unknown as HireEscrow;
  const escrowAddress = await escrow.getAddress();
  const { chainId } = await provider.getNetwork();
  const domain = { version: "1", chainId, verifyingContract: escrowAddress };
  const domains: Domains = {
    escrow: { name: "Tallystick HireEscrow", ...domain },
    token: { name: "USD Coin", version: "2", chainId, verifyingContract: tokenAddress },
    escrowAddress,
  };
  const { interface: abi } = escrow;
  // Everybody has tokens and gives the escrow an allowance. So only the escrow's checks prevent a payment by others.
  for (const role of ROLES) {
    await token.mint(cast[role].address, 100_000_000n);
    const approve = token.interface.encodeFunctionData("approve", [escrowAddress, 2n ** 256n - 1n]);
    await send(cast[role].address, tokenAddress, approve);
  }

  async function send(from: string, to: string, data: string): Promise<Log[]> {
    const hash = await provider.send("eth_sendTransaction", [{ from, to, data, gas: toBeHex(GAS), ...FEES }]);
    const receipt = await provider.getTransactionReceipt(hash);
    if (receipt?.status !== 1) throw new Error(`a transaction of ${from} failed`);
    return [...receipt.logs];
  }
  const batchOf = (data: string) => abi.encodeFunctionData("batch", [[data], 1_000_000n]);
  const ids = new Map<Hire, string>();
  // Without a contract object of ethers, because the matrix asks this thousands of times.
  const balance = async (address: string): Promise<bigint> => {
    const data = token.interface.encodeFunctionData("balanceOf", [address]);
    return BigInt(await provider.send("eth_call", [{ to: tokenAddress, data }, "latest"]));
  };

  const world = {
    kind,
    cast,
    domains,
    stages: [] as Staged[],
    idOf: (hire: Hire): string => {
      const known = ids.get(hire) ?? digestOf({ domain: domains.escrow, types: HIRE_TYPES, message: hire });
      ids.set(hire, known);
      return known;
    },
    now: async () => BigInt(await networkHelpers.time.latest()),

    encode(verb: Verb, hire: Hire, named: string, signature: string): string {
      switch (verb) {
        case "deposit":
        case "timeoutRefund":
          return abi.encodeFunctionData(verb as "deposit", [hire]);
        case "depositWithAuthorization":
          return abi.encodeFunctionData(verb, [hire, 0n, 2n ** 64n, signature]);
        case "depositWithPermit":
          return abi.encodeFunctionData(verb, [hire, 0n, 0n, "0x", signature]);
        case "markDelivered":
          return abi.encodeFunctionData(verb, [hire, RESULT, signature]);
        case "release":
          return abi.encodeFunctionData(verb, [hire, signature]);
        case "split":
          return abi.encodeFunctionData(verb, [hire, TO_SELLER, signature]);
        case "refund":
          return abi.encodeFunctionData(verb, [hire, named, signature]);
        case "pause":
          return abi.encodeFunctionData(verb, [PAUSE]);
        case "unpause":
          return abi.encodeFunctionData(verb);
      }
    },

    /** An account's signature: by its key, or any bytes if the wallet checks stored approvals. */
    signatureOf: (role: Role, word: Word, wrapped: boolean): string => {
      const signature = kind === "stored" ? "0x01" : sign(cast[role], word);
      return wrapped ? wrap6492(signature) : signature;
    },

    /**
     * Prepares the pause or the stored approval that a cell needs. Returns a function that restores the state before. A
     * cell without effects and without such a preparation takes no snapshot of the chain.
     */
    async enter(
      speaker: Role,
      word: Word,
      { paused }: Situation,
      { bySignature, hasEffects }: { bySignature: boolean; hasEffects: boolean },
    ) {
      if (!hasEffects && !paused && !(kind === "stored" && bySignature)) return async () => {};
      const before = await provider.send("evm_snapshot", []);
      if (paused) await send(cast.guardian.address, escrowAddress, abi.encodeFunctionData("pause", [PAUSE]));
      if (kind === "stored" && bySignature) {
        const wallet = await ethers.getContractAt("StoredApprovalWallet", cast[speaker].address);
        await wallet.getFunction("approve")(digestOf(word));
      }
      return async () => {
        await provider.send("evm_revert", [before]);
      };
    },

    /** The error of a refused call; "" if the call succeeds. */
    async refusal(sender: Role, data: string, batched: boolean): Promise<string> {
      const from = cast[sender].address;
      if (batched)
        return reportOf(abi, { logs: await send(from, escrowAddress, batchOf(data)) }).failed[0]?.[1] ?? "";
      try {
        await provider.send("eth_call", [{ from, to: escrowAddress, data, gas: toBeHex(GAS) }, "latest"]);
        return "";
      } catch (error) {
        return errorDataIn(error);
      }
    },

    perform: (sender: Role, data: string, batched: boolean) =>
      send(cast[sender].address, escrowAddress, batched ? batchOf(data) : data),

    /** Every error that the broken rules may cause. `*` replaces a block's time. */
    errorsOf(
      broken: Fault[],
      verb: Verb,
      sender: Role,
      needed: Role,
      way: Way,
      { hire, situation }: Staged,
      named: Role = needed,
    ): string[] {
      const [from, signer] = [cast[sender].address, cast[needed].address];
      const status = ["none", "held", "released", "split", "refunded", "timedOut"].indexOf(situation.status);
      const wanted = verb.startsWith("deposit") ? 0 : 1;
      const data = (name: Parameters<typeof abi.getError>[0], args: unknown[]) =>
        abi.encodeErrorResult(abi.getError(name)!, args as never).toLowerCase();
      return broken.map((fault) => {
        switch (fault) {
          case "word":
            if (verb === "depositWithAuthorization")
              return token.interface.getError("ERC3009InvalidSignature")!.selector;
            return (way === "signed" || way === "wrapped") && !["deposit", "pause", "unpause"].includes(verb)
              ? data("InvalidSignature", [signer])
              : data("NotAuthorized", [from, signer]);
          case "party":
            return data("NotAParty", [cast[named].address]);
          case "status":
            return data("WrongStatus", [world.idOf(hire), status, wanted]);
          case "delivered":
            return data("AlreadyDelivered", [world.idOf(hire)]);
          // These errors contain the time of the block, which differs between a call and a transaction.
          case "paused":
            return `${abi.getError("DepositsPaused")!.selector}*`;
          case "tooLate":
            return `${abi.getError("DeadlinePassed")!.selector}*${toBeHex(hire.deadline, 32).slice(2)}`;
          default:
            return `${abi.getError("DeadlineNotReached")!.selector}*${toBeHex(hire.deadline, 32).slice(2)}`;
        }
      });
    },

    async balances(): Promise<Record<string, bigint>> {
      const entries = await Promise.all(
        ROLES.map(async (role): Promise<[string, bigint]> => [role, await balance(cast[role].address)]),
      );
      const own: [string, bigint][] = [
        ["escrow", await balance(escrowAddress)],
        ["token", await balance(tokenAddress)],
      ];
      return Object.fromEntries([...entries, ...own]);
    },

    /** The escrow's own events, with all arguments. */
    eventsIn: (logs: Log[]): unknown[][] =>
      logs
        .filter(({ address }) => address === escrowAddress)
        .map((log) => {
          const event = abi.parseLog(log);
          return [event?.name, ...(event?.args ?? [])];
        }),

    async stateOf(hire: Hire) {
      const { status, delivered, amount } = await escrow.stateOf(world.idOf(hire));
      return { status, delivered, amount };
    },
  };

  const by = (role: Role, verb: Verb, hire: Hire) =>
    send(cast[role].address, escrowAddress, world.encode(verb, hire, cast[role].address, "0x"));
  const start = await world.now();
  const [soon, later] = [start + 10_000n, start + 10_000_000n];
  const plans: { situation: Situation; deadline: bigint }[] = [];
  for (const status of ["none", "held", "released", "split", "refunded", "timedOut"] as const) {
    for (const delivered of status === "none" ? [false] : [false, true]) {
      for (const late of status === "timedOut" ? [true] : [false, true]) {
        const paused = [false, ...(status === "none" && !late ? [true] : [])];
        if (status === "held" && !late) paused.push(true);
        for (const it of paused)
          plans.push({ situation: { status, delivered, late, paused: it }, deadline: late ? soon : later });
      }
    }
  }
  for (const { situation, deadline } of plans) {
    const hire: Hire = {
      hireId: hexlify(randomBytes(32)),
      buyer: cast.buyer.address,
      seller: cast.seller.address,
      payee: cast.payee.address,
      amount: AMOUNT,
      fee: FEE,
      feeRecipient: cast.feeRecipient.address,
      deadline,
      arbiter: cast.arbiter.address,
    };
    world.stages.push({ hire, situation });
    if (situation.status === "none") continue;
    await by("buyer", "deposit", hire);
    if (situation.delivered) await by("seller", "markDelivered", hire);
    if (situation.status === "released") await by("buyer", "release", hire);
    if (situation.status === "split") await by("buyer", "split", hire);
    if (situation.status === "refunded") await by("buyer", "refund", hire);
  }
  await networkHelpers.time.increaseTo(soon);
  for (const { hire, situation } of world.stages)
    if (situation.status === "timedOut") await by("stranger", "timeoutRefund", hire);
  return world;
}

const HIRE_TYPES = {
  Hire: [
    { name: "hireId", type: "bytes32" },
    { name: "buyer", type: "address" },
    { name: "seller", type: "address" },
    { name: "payee", type: "address" },
    { name: "amount", type: "uint128" },
    { name: "fee", type: "uint128" },
    { name: "feeRecipient", type: "address" },
    { name: "deadline", type: "uint64" },
    { name: "arbiter", type: "address" },
  ],
};

/** The revert data in the error of an RPC call. */
function errorDataIn(error: unknown): string {
  for (let it = error as { data?: unknown; cause?: unknown; error?: unknown } | undefined; it; ) {
    if (typeof it.data === "string" && it.data.startsWith("0x")) return it.data.toLowerCase();
    const inner = it.data as { data?: unknown } | undefined;
    if (typeof inner?.data === "string") return inner.data.toLowerCase();
    it = (it.cause ?? it.error) as typeof it;
  }
  throw error;
}

/** Whether an answer is one of these errors. */
export function isOneOf(errors: string[], reason: string): boolean {
  return errors.some((error) => {
    const [start, end] = error.split("*");
    return end === undefined ? reason === error : reason.startsWith(start as string) && reason.endsWith(end);
  });
}
