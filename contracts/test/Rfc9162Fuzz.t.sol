// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Rfc9162} from "../libraries/Rfc9162.sol";
import {LibrariesHarness} from "./LibrariesHarness.sol";
import {MerkleReference} from "./MerkleReference.sol";
import {TestBase} from "./Vm.sol";

/// @title Tests the verifier with correct proofs, forged proofs and random data
contract Rfc9162FuzzTest is TestBase {
    LibrariesHarness private _harness;

    function setUp() public {
        _harness = new LibrariesHarness();
    }

    /// @notice Every proof that the definition of RFC 6962 gives is accepted.
    function testFuzz_acceptsWhatTheDefinitionGives(bytes32 seed, uint256 size, uint256 oldSize, uint256 index)
        external
        view
    {
        size = bound(size, 1, 40);
        oldSize = bound(oldSize, 0, size);
        index = bound(index, 0, size - 1);
        bytes32[] memory leaves = _leaves(seed, size);
        require(_inclusion(leaves, index, size) == Rfc9162.Verdict.Valid, "inclusion");
        require(_consistency(leaves, leaves, oldSize, size) == Rfc9162.Verdict.Valid, "consistency");
    }

    /// @notice If one old entry is replaced, no proof of the forged tree is accepted for the original tree.
    function testFuzz_refusesEveryForgedHistory(bytes32 seed, uint256 size, uint256 oldSize, uint256 position)
        external
        view
    {
        size = bound(size, 1, 40);
        oldSize = bound(oldSize, 1, size);
        bytes32[] memory original = _leaves(seed, size);
        bytes32[] memory forged = _leaves(seed, size);
        forged[bound(position, 0, oldSize - 1)] = keccak256("another entry");
        require(_consistency(original, forged, oldSize, size) != Rfc9162.Verdict.Valid, "forged");
    }

    /// @notice Random nodes are refused with a reason. Nothing in a proof makes the verifier revert.
    function testFuzz_neverRevertsAndNeverAcceptsNoise(
        uint256 size,
        uint256 position,
        bytes32 a,
        bytes32 b,
        bytes32[] memory proof
    ) external view {
        LibrariesHarness.Inclusion[] memory inclusions = new LibrariesHarness.Inclusion[](1);
        inclusions[0] = LibrariesHarness.Inclusion(a, position, size, b, proof);
        vm.assume(a != b);
        require(_harness.inclusion(inclusions)[0] != Rfc9162.Verdict.Valid, "inclusion");
        if (position == 0) return;
        LibrariesHarness.Consistency[] memory cases = new LibrariesHarness.Consistency[](1);
        cases[0] = LibrariesHarness.Consistency(position, a, size, b, proof);
        require(_harness.consistency(cases)[0] != Rfc9162.Verdict.Valid, "consistency");
    }

    function _inclusion(bytes32[] memory leaves, uint256 index, uint256 size)
        private
        view
        returns (Rfc9162.Verdict)
    {
        LibrariesHarness.Inclusion[] memory cases = new LibrariesHarness.Inclusion[](1);
        cases[0] = LibrariesHarness.Inclusion(
            leaves[index],
            index,
            size,
            MerkleReference.root(leaves, size),
            MerkleReference.inclusionProof(leaves, index, size)
        );
        return _harness.inclusion(cases)[0];
    }

    function _consistency(bytes32[] memory oldLeaves, bytes32[] memory leaves, uint256 oldSize, uint256 size)
        private
        view
        returns (Rfc9162.Verdict)
    {
        LibrariesHarness.Consistency[] memory cases = new LibrariesHarness.Consistency[](1);
        cases[0] = LibrariesHarness.Consistency(
            oldSize,
            MerkleReference.root(oldLeaves, oldSize),
            size,
            MerkleReference.root(leaves, size),
            MerkleReference.consistencyProof(leaves, oldSize, size)
        );
        return _harness.consistency(cases)[0];
    }

    function _leaves(bytes32 seed, uint256 size) private pure returns (bytes32[] memory leaves) {
        leaves = new bytes32[](size);
        for (uint256 i = 0; i < size; ++i) {
            leaves[i] = keccak256(abi.encode(seed, i));
        }
    }
}
