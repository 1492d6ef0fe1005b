// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Emits the events of token transfers to fill a chain for benchmarks. It keeps no balances
contract TransferEmitter {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    /// @notice Emits the events of transfers one after the other.
    /// @param packed 49 bytes for each transfer: 20 of `from`, 20 of `to`, 8 of the value, and a last byte: 1 if `from` signed an
    /// authorization, else 0
    function emitTransfers(bytes calldata packed) external {
        for (uint256 offset = 0; offset < packed.length; offset += 49) {
            address from = address(bytes20(packed[offset:offset + 20]));
            address to = address(bytes20(packed[offset + 20:offset + 40]));
            if (packed[offset + 48] != 0) emit AuthorizationUsed(from, keccak256(packed[offset:offset + 49]));
            emit Transfer(from, to, uint64(bytes8(packed[offset + 40:offset + 48])));
        }
    }
}
