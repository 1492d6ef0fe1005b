/** The contracts' ABIs, as viem and ethers take them. */
export { anchoredLedgerAbi } from "./abi/anchoredLedgerAbi.ts";
export { hireEscrowAbi } from "./abi/hireEscrowAbi.ts";
export { identityRegistryAbi } from "./erc8004/identityRegistryAbi.ts";
export { reputationRegistryAbi } from "./erc8004/reputationRegistryAbi.ts";
