/** The contracts' ABIs, as viem and ethers take them. */
export { anchoredLedgerAbi } from "./abi/anchoredLedgerAbi.ts";
export { hireEscrowAbi } from "./abi/hireEscrowAbi.ts";
