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

// Ponder indexes again when an ABI changes. So this error is added to an ABI: its name changes with everything that decides rows.
const version = { type: "error", name: `Tallystick_${buildVersion(config)}`, inputs: [] } as const;

const { startBlock, anchoredLedger, registries } = config;
const { tickBlocks } = config.params;
const escrows = Object.keys(config.params.escrows) as `0x${string}`[];

const contracts = {
  Token: { chain: "main", abi: [...tokenAbi, version], address: config.token, startBlock },
  // If no address is configured, nothing must match. For Ponder, an empty list means "any address".
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
  // Ticks are at multiples of the interval, wherever a node starts. So two nodes have their ticks at the same blocks.
  Tick: {
    chain: "main",
    interval: tickBlocks,
    startBlock: Math.ceil(startBlock / tickBlocks) * tickBlocks,
  },
  Wake: { chain: "main", interval: 1, startBlock: "latest" },
} as const;

const isRelevant = config.transfers.form === "relevant";

/** The filters of the events that Ponder indexes. Ponder is started as `ponder --root indexer`, and a file in `indexer/` exports this object again. */
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
  // For a relevant log, the handlers look for the transfers themselves. Then the token is none of Ponder's contracts, and every new
  // block wakes the handlers. The types have both forms, because each handler is registered only in the form that needs it.
  contracts: {
    ...(isRelevant ? {} : { Token }),
    HireEscrow,
    AnchoredLedger,
    ...(registries === null ? {} : registryContracts),
  } as typeof contracts,
  blocks: isRelevant ? blocks : ({ Tick: blocks.Tick } as typeof blocks),
});
