// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The definitions of RFC 6962 §2.1, word for word, over leaves in memory. Slow, but easy to compare with the
/// RFC
library MerkleReference {
    function root(bytes32[] memory leaves, uint256 size) internal pure returns (bytes32) {
        return size == 0 ? sha256("") : _root(leaves, 0, size);
    }

    /// @notice PATH(m, D[n]).
    function inclusionProof(bytes32[] memory leaves, uint256 m, uint256 size)
        internal
        pure
        returns (bytes32[] memory)
    {
        return _path(leaves, m, 0, size);
    }

    /// @notice PROOF(m, D[n]); empty for m = 0 and m = n.
    function consistencyProof(bytes32[] memory leaves, uint256 m, uint256 size)
        internal
        pure
        returns (bytes32[] memory)
    {
        return m == 0 || m == size ? new bytes32[](0) : _subproof(leaves, m, 0, size, true);
    }

    function _root(bytes32[] memory leaves, uint256 from, uint256 to) private pure returns (bytes32) {
        if (to - from == 1) return leaves[from];
        uint256 middle = from + _split(to - from);
        return sha256(bytes.concat(hex"01", _root(leaves, from, middle), _root(leaves, middle, to)));
    }

    function _path(bytes32[] memory leaves, uint256 m, uint256 from, uint256 to)
        private
        pure
        returns (bytes32[] memory)
    {
        if (to - from == 1) return new bytes32[](0);
        uint256 k = _split(to - from);
        return m < k
            ? _append(_path(leaves, m, from, from + k), _root(leaves, from + k, to))
            : _append(_path(leaves, m - k, from + k, to), _root(leaves, from, from + k));
    }

    function _subproof(bytes32[] memory leaves, uint256 m, uint256 from, uint256 to, bool whole)
        private
        pure
        returns (bytes32[] memory)
    {
        if (m == to - from) {
            return whole ? new bytes32[](0) : _append(new bytes32[](0), _root(leaves, from, to));
        }
        uint256 k = _split(to - from);
        return m <= k
            ? _append(_subproof(leaves, m, from, from + k, whole), _root(leaves, from + k, to))
            : _append(_subproof(leaves, m - k, from + k, to, false), _root(leaves, from, from + k));
    }

    function _split(uint256 length) private pure returns (uint256 k) {
        k = 1;
        while (k * 2 < length) k *= 2;
    }

    function _append(bytes32[] memory list, bytes32 item) private pure returns (bytes32[] memory longer) {
        longer = new bytes32[](list.length + 1);
        for (uint256 i = 0; i < list.length; ++i) {
            longer[i] = list[i];
        }
        longer[list.length] = item;
    }
}
