// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Proof verification for RFC 6962 / RFC 9162 Merkle trees (SHA-256, leaf prefix 0x00, node prefix 0x01)
/// @notice These functions verify proofs. They compute roots from the given nodes, and return a verdict. Nothing that a
/// proof contains makes them revert, so the caller decides what happens after a bad proof.
library Rfc9162 {
    /// @notice Why a proof was accepted or refused.
    enum Verdict {
        Valid,
        /// @notice The tree is larger than 2^63 leaves.
        SizeAboveLimit,
        /// @notice The new tree is smaller than the old one.
        SizeShrinks,
        /// @notice The leaf index is not below the tree size.
        IndexOutsideTree,
        /// @notice The proof has more nodes than a path between these positions.
        ProofTooLong,
        /// @notice The proof has fewer nodes than a path between these positions.
        ProofTooShort,
        /// @notice The nodes do not lead to the root of the old tree.
        OldRootMismatch,
        /// @notice The nodes do not lead to the root of the (new) tree.
        RootMismatch
    }

    /// @notice The largest number of leaves. Twice this number would not fit into the uint64 of a head.
    uint256 internal constant MAX_SIZE = 2 ** 63;

    /// @notice The largest number of nodes in a proof for such a tree. It is checked first, to limit the work.
    uint256 internal constant MAX_PROOF_LENGTH = 64;

    /// @notice Root of the tree without leaves: SHA-256 of no bytes (RFC 6962 §2.1).
    bytes32 internal constant EMPTY_ROOT = 0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855;

    /// @notice Verifies that the new tree begins with the leaves of the old tree (RFC 9162 §2.1.4.2).
    /// @dev If the sizes are equal, the proof must be empty and the roots must be equal. If the old tree is empty, the
    /// proof must be empty and the old root must be EMPTY_ROOT. Every new tree is consistent with the empty tree.
    /// @param oldSize Number of leaves of the old tree.
    /// @param oldRoot Root of the old tree.
    /// @param newSize Number of leaves of the new tree, at most 2^63.
    /// @param newRoot Root of the new tree.
    /// @param proof The consistency path, from the leaves to the root.
    function checkConsistency(
        uint256 oldSize,
        bytes32 oldRoot,
        uint256 newSize,
        bytes32 newRoot,
        bytes32[] calldata proof
    ) internal view returns (Verdict) {
        if (newSize > MAX_SIZE) return Verdict.SizeAboveLimit;
        if (oldSize > newSize) return Verdict.SizeShrinks;
        if (proof.length > MAX_PROOF_LENGTH) return Verdict.ProofTooLong;
        if (oldSize == newSize || oldSize == 0) {
            if (proof.length != 0) return Verdict.ProofTooLong;
            if (oldSize == 0 && oldRoot != EMPTY_ROOT) return Verdict.OldRootMismatch;
            return oldSize == newSize && oldRoot != newRoot ? Verdict.RootMismatch : Verdict.Valid;
        }
        return _walkConsistency(oldSize - 1, oldRoot, newSize - 1, newRoot, proof);
    }

    /// @notice Verifies that `leaf` has the position `index` in the tree (RFC 9162 §2.1.3.2).
    /// @param leaf Leaf hash: SHA-256(0x00 ‖ leaf bytes).
    /// @param index Position of the leaf, from 0.
    /// @param size Number of leaves of the tree, at most 2^63.
    /// @param root Root of the tree.
    /// @param proof The inclusion path, from the leaf to the root.
    function checkInclusion(bytes32 leaf, uint256 index, uint256 size, bytes32 root, bytes32[] calldata proof)
        internal
        view
        returns (Verdict)
    {
        if (size > MAX_SIZE) return Verdict.SizeAboveLimit;
        if (index >= size) return Verdict.IndexOutsideTree;
        if (proof.length > MAX_PROOF_LENGTH) return Verdict.ProofTooLong;

        uint256 fn = index;
        uint256 sn = size - 1;
        bytes32 hash = leaf;
        for (uint256 i = 0; i < proof.length; ++i) {
            if (sn == 0) return Verdict.ProofTooLong;
            if (fn & 1 == 1 || fn == sn) {
                hash = nodeHash(proof[i], hash);
                (fn, sn) = _skipMissingSiblings(fn, sn);
            } else {
                hash = nodeHash(hash, proof[i]);
            }
            fn >>= 1;
            sn >>= 1;
        }
        if (sn != 0) return Verdict.ProofTooShort;
        return hash == root ? Verdict.Valid : Verdict.RootMismatch;
    }

    /// @notice SHA-256(0x01 ‖ left ‖ right), the hash of an inner node (RFC 6962 §2.1).
    function nodeHash(bytes32 left, bytes32 right) internal view returns (bytes32 result) {
        assembly ("memory-safe") {
            // The 65 bytes lie after the free memory pointer. The pointer does not move, because the bytes are used
            // only once.
            let input := mload(0x40)
            mstore8(input, 1)
            mstore(add(input, 0x01), left)
            mstore(add(input, 0x21), right)
            // The precompile fails only if too little gas is left. Without the revert, the old content of memory would
            // be the hash.
            if iszero(staticcall(gas(), 2, input, 0x41, 0x00, 0x20)) { revert(0, 0) }
            result := mload(0x00)
        }
    }

    /// @dev The walk of RFC 9162 §2.1.4.2. It starts at the last leaf of the old tree (`fn`) and at the last leaf of
    /// the new tree (`sn`). The RFC calls `oldHash` fr, and `newHash` sr.
    function _walkConsistency(uint256 fn, bytes32 oldRoot, uint256 sn, bytes32 newRoot, bytes32[] calldata proof)
        private
        view
        returns (Verdict)
    {
        // Goes up to the largest complete subtree that ends where the old tree ends. Both trees contain it.
        while (fn & 1 == 1) {
            fn >>= 1;
            sn >>= 1;
        }
        uint256 i = 0;
        bytes32 oldHash = oldRoot;
        // If the size of the old tree is a power of two, the old tree itself is this subtree, and fn is 0. Then the
        // path begins with the old root, and the proof omits it. In every other case the proof begins with the hash of
        // the subtree.
        if (fn != 0) {
            if (proof.length == 0) return Verdict.ProofTooShort;
            oldHash = proof[0];
            i = 1;
        }
        bytes32 newHash = oldHash;
        for (; i < proof.length; ++i) {
            if (sn == 0) return Verdict.ProofTooLong;
            bytes32 node = proof[i];
            if (fn & 1 == 1 || fn == sn) {
                // Until the first node on the right, the two hashes are equal and are computed once.
                bytes32 joined = nodeHash(node, newHash);
                oldHash = oldHash == newHash ? joined : nodeHash(node, oldHash);
                newHash = joined;
                (fn, sn) = _skipMissingSiblings(fn, sn);
            } else {
                newHash = nodeHash(newHash, node);
            }
            fn >>= 1;
            sn >>= 1;
        }
        if (sn != 0) return Verdict.ProofTooShort;
        if (oldHash != oldRoot) return Verdict.OldRootMismatch;
        return newHash == newRoot ? Verdict.Valid : Verdict.RootMismatch;
    }

    /// @dev On the right edge, a level without a sibling adds no node to the path. Skips such levels.
    function _skipMissingSiblings(uint256 fn, uint256 sn) private pure returns (uint256, uint256) {
        while (fn & 1 == 0 && fn != 0) {
            fn >>= 1;
            sn >>= 1;
        }
        return (fn, sn);
    }
}
