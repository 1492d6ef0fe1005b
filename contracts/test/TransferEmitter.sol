// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Emits the events of a token's transfers without balances, to fill a chain for benchmarks
contract TransferEmitter {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    /// @notice Emits the events of transfers one after the other.
    /// @param packed for each transfer: from (20 bytes), to (20), value (8), and 1 if `from` authorized it (1)
    function emitTransfers(bytes calldata packed) external {
        for (uint256 offset = 0; offset < packed.length; offset += 49) {
            address from = address(bytes20(packed[offset:offset + 20]));
            address to = address(bytes20(packed[offset + 20:offset + 40]));
            if (packed[offset + 48] != 0) emit AuthorizationUsed(from, keccak256(packed[offset:offset + 49]));
            emit Transfer(from, to, uint64(bytes8(packed[offset + 40:offset + 48])));
        }
    }
}
