/** A client's error answer to `eth_call`: the cause, and the error's code and message. */
type ErrorAnswer = [what: string, code: number, message: string];

/**
 * Error answers to an `eth_call`, in the words of the clients. Their text and code alone cannot tell a failing wallet
 * from a failing provider. This is why the wallet is called inside the EVM. Older versions of geth and erigon use one
 * code for plain reverts and for other errors. erigon 2.32 reports a pruned state as a revert. Hardhat and reth have
 * their own codes.
 */
export const ERROR_ANSWERS: { [client: string]: ErrorAnswer[] } = {
  geth: [
    ["a revert", 3, "execution reverted"],
    ["a bare revert in older versions", -32000, "execution reverted"],
    ["a revert with a reason", 3, "execution reverted: not mine"],
    ["out of gas", -32000, "out of gas"],
    ["an invalid opcode", -32000, "invalid opcode: INVALID"],
    ["a bad jump", -32000, "invalid jump destination"],
    ["a write in a static call", -32000, "write protection"],
    ["gas beyond its cap", -32000, "err: intrinsic gas too low: have 21000, want 96000 (supplied gas 21000)"],
    ["its time limit", -32000, "execution aborted (timeout = 5s)"],
    [
      "a missing trie node",
      -32000,
      "missing trie node 8b1604e0 (path ) state 0x8b16 is not available, not found",
    ],
    ["a state that is gone", -32000, "historical state 8b1604e0 is not available"],
    ["an unknown block", -32000, "header not found"],
    ["pruned history", 4444, "pruned history unavailable"],
  ],
  reth: [
    ["a revert", 3, "execution reverted"],
    ["out of gas", -32003, "out of gas: gas required exceeds: 6000000"],
    ["memory beyond the gas", -32003, "out of gas: gas exhausted during memory expansion: 6000000"],
    ["an invalid opcode", -32003, "EVM error: InvalidFEOpcode"],
    ["gas beyond its cap", -32000, "intrinsic gas too high"],
    ["its time limit", -32000, "execution aborted (timeout = 5s)"],
    ["a pruned state", -32603, "state at block #42 is pruned"],
    ["pruned history", 4444, "pruned history unavailable"],
    ["an unknown block", -32001, "block not found: 0x2a"],
  ],
  erigon: [
    ["a revert", 3, "execution reverted"],
    ["a bare revert in older versions", -32000, "execution reverted"],
    ["out of gas", -32000, "out of gas"],
    ["an invalid opcode", -32000, "invalid opcode: INVALID"],
    ["its time limit", -32000, "execution aborted (timeout = 5m0s)"],
    ["a pruned state", -32000, "old data not available due to pruning"],
    ["a pruned state in 2.32", -32000, "execution reverted"],
    ["a crash", -32000, "method handler crashed"],
    ["an unknown block", -32000, "block 42 not found"],
  ],
  hardhat: [
    ["a revert", 3, "VM Exception while processing transaction: revert without reason"],
    ["out of gas", -32603, "Transaction ran out of gas"],
    ["an invalid opcode", -32603, "VM Exception while processing transaction: invalid opcode"],
    [
      "gas beyond its cap",
      -32000,
      "Transaction gas limit is 30000000 and exceeds transaction gas cap of 16777216",
    ],
    ["an unknown block", -32000, "Received invalid block tag 42. Latest block number is 7"],
  ],
  providers: [
    ["too many requests", -32005, "limit exceeded"],
    ["no archive", -32000, "state not available, archive node required"],
    ["a disabled method", -32601, "the method eth_call does not exist/is not available"],
  ],
};
