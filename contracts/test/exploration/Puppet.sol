// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title An account that does and signs what the explorer says
contract Puppet {
    bytes32 private _word;

    /// @notice Makes `digest` the only data that this account signed. Zero: it signed nothing.
    function sign(bytes32 digest) external {
        _word = digest;
    }

    function send(address to, bytes calldata data) external returns (bool done) {
        (done,) = to.call(data);
    }

    /// @notice ERC-1271.
    function isValidSignature(bytes32 digest, bytes calldata) external view returns (bytes4) {
        return digest == _word && digest != 0 ? this.isValidSignature.selector : bytes4(0);
    }
}
