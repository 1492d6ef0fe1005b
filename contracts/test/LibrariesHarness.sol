// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Rfc9162} from "../libraries/Rfc9162.sol";
import {Signatures} from "../libraries/Signatures.sol";

/// @title Calls the functions of the libraries, with many cases in one call
contract LibrariesHarness {
    struct Inclusion {
        bytes32 leaf;
        uint256 index;
        uint256 size;
        bytes32 root;
        bytes32[] proof;
    }

    struct Consistency {
        uint256 oldSize;
        bytes32 oldRoot;
        uint256 newSize;
        bytes32 newRoot;
        bytes32[] proof;
    }

    function inclusion(Inclusion[] calldata cases) external view returns (Rfc9162.Verdict[] memory verdicts) {
        verdicts = new Rfc9162.Verdict[](cases.length);
        for (uint256 i = 0; i < cases.length; ++i) {
            Inclusion calldata c = cases[i];
            verdicts[i] = Rfc9162.checkInclusion(c.leaf, c.index, c.size, c.root, c.proof);
        }
    }

    function consistency(Consistency[] calldata cases)
        external
        view
        returns (Rfc9162.Verdict[] memory verdicts)
    {
        verdicts = new Rfc9162.Verdict[](cases.length);
        for (uint256 i = 0; i < cases.length; ++i) {
            Consistency calldata c = cases[i];
            verdicts[i] = Rfc9162.checkConsistency(c.oldSize, c.oldRoot, c.newSize, c.newRoot, c.proof);
        }
    }

    function nodeHash(bytes32 left, bytes32 right) external view returns (bytes32) {
        return Rfc9162.nodeHash(left, right);
    }

    function unwrap(bytes calldata signature) external pure returns (bytes memory) {
        return Signatures.unwrap(signature);
    }

    function isSignedBy(address signer, bytes32 digest, bytes calldata signature)
        external
        view
        returns (bool)
    {
        return Signatures.isSignedBy(signer, digest, signature);
    }
}
