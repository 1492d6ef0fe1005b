import { createConfig } from "ponder";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { parseAbi, zeroAddress } from "viem";
import { buildVersion } from "./indexer/buildVersion.ts";
import { config } from "./indexer/environment.ts";
import { leaveSigtermToPonder } from "./indexer/ponderProcess.ts";

leaveSigtermToPonder();

const tokenAbi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
]);

// Ponder re-indexes when the ABIs change, among others: an error of this name makes everything that decides rows count.
const version = { type: "error", name: `Tallystick_${buildVersion(config)}`, inputs: [] } as const;

const { startBlock, anchoredLedger, registries } = config;
const { tickBlocks } = config.params;
const escrows = Object.keys(config.params.escrows) as `0x${string}`[];

const contracts = {
  Token: { chain: "main", abi: [...tokenAbi, version], address: config.token, startBlock },
  // Without a configured address nothing must match. Ponder takes an empty list or none for "any address".
  HireEscrow: {
    chain: "main",
    abi: hireEscrowAbi,
    address: escrows.length > 0 ? escrows : zeroAddress,
    startBlock,
  },
  AnchoredLedger: {
    chain: "main",
    abi: [...anchoredLedgerAbi, version],
    address: anchoredLedger ?? zeroAddress,
    startBlock,
  },
  IdentityRegistry: {
    chain: "main",
    abi: identityRegistryAbi,
    address: registries?.identity ?? zeroAddress,
    startBlock,
  },
  ReputationRegistry: {
    chain: "main",
    abi: reputationRegistryAbi,
    address: registries?.reputation ?? zeroAddress,
    startBlock,
  },
} as const;

const { Token, HireEscrow, AnchoredLedger, ...registryContracts } = contracts;

const blocks = {
  // Ticks fall on multiples of the interval, wherever a node starts; so two nodes tick at the same blocks.
  Tick: {
    chain: "main",
    interval: tickBlocks,
    startBlock: Math.ceil(startBlock / tickBlocks) * tickBlocks,
  },
  Wake: { chain: "main", interval: 1, startBlock: "latest" },
} as const;

const isRelevant = config.transfers.form === "relevant";

/** Ponder: the filters of the events to index. It is started as `ponder --root indexer`, which reads this by a re-export. */
export default createConfig({
  database: { kind: "postgres", connectionString: config.databaseUrl },
  chains: {
    main: {
      id: config.chainId,
      rpc: config.rpcUrl,
      pollingInterval: config.pollingIntervalMs,
      ...(config.logsBlockRange !== null && { ethGetLogsBlockRange: config.logsBlockRange }),
    },
  },
  // The transfers that matter are looked for by the handlers: then the token is none of Ponder's contracts, and every new block is a
  // wake-up. The types need not know: who handles what is not there is not there either.
  contracts: {
    ...(isRelevant ? {} : { Token }),
    HireEscrow,
    AnchoredLedger,
    ...(registries === null ? {} : registryContracts),
  } as typeof contracts,
  blocks: isRelevant ? blocks : ({ Tick: blocks.Tick } as typeof blocks),
});
