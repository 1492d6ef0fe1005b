// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title A contract wallet that remembers what it approved
/// @notice It ignores the bytes of a signature, and approves the digests that were stored before. Several multisigs
/// work like this.
contract StoredApprovalWallet is IERC1271 {
    mapping(bytes32 digest => bool) public approved;

    function approve(bytes32 digest) external {
        approved[digest] = true;
    }

    function isValidSignature(bytes32 digest, bytes calldata) external view returns (bytes4) {
        return approved[digest] ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
