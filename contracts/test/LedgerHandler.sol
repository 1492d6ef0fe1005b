// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AnchoredLedger} from "../AnchoredLedger.sol";
import {IAnchoredLedger} from "../interfaces/IAnchoredLedger.sol";
import {MerkleReference} from "./MerkleReference.sol";
import {TestBase} from "./Vm.sol";

/// @title A writer that anchors, and tries everything else
/// @notice Keeps the entries of every head that was accepted. What must not happen is written down in {broken}.
contract LedgerHandler is TestBase {
    enum Act {
        Anchor,
        Relay,
        Heartbeat,
        RewriteRefused,
        ShrinkRefused,
        ReplayRefused,
        StrangerRefused,
        Equivocation
    }

    uint256 private constant WRITER_KEY = 0x5eed;
    uint256 private constant MOST_ENTRIES = 20;

    AnchoredLedger public immutable ledger;
    address public immutable writer;
    bytes32 public immutable id;

    bytes32[] private _leaves;
    bytes private _lastSignature;
    uint256 private _lastSize;
    uint256 private _entropy;

    mapping(Act act => uint256) public done;
    string public broken;

    constructor() {
        writer = vm.addr(WRITER_KEY);
        ledger = new AnchoredLedger();
        id = ledger.open("handler.example", writer);
    }

    // ------------------------------------------------------------------------------- what a writer may do

    function anchor(uint256 growth) external {
        uint256 size = _grow(growth);
        (bytes32 root, bytes32[] memory proof) = _extension(_leaves, size);
        vm.prank(writer);
        ledger.anchor(id, uint64(size), root, proof, "");
        done[Act.Anchor]++;
        _check();
    }

    function relay(uint256 growth) external {
        uint256 size = _grow(growth);
        (bytes32 root, bytes32[] memory proof) = _extension(_leaves, size);
        uint64 seq = ledger.head(id).seq + 1;
        _lastSignature = _sign(
            keccak256(
                abi.encode(
                    keccak256("Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)"),
                    id,
                    seq,
                    uint64(size),
                    root
                )
            )
        );
        _lastSize = size;
        ledger.anchor(id, uint64(size), root, proof, _lastSignature);
        done[Act.Relay]++;
        _check();
    }

    function heartbeat() external {
        IAnchoredLedger.Head memory head = ledger.head(id);
        vm.prank(writer);
        ledger.anchor(id, head.size, head.root, new bytes32[](0), "");
        done[Act.Heartbeat]++;
        _check();
    }

    function wait_(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 1, 1 hours));
    }

    // ------------------------------------------------------------------------------- what nobody may do

    /// @dev Another entry in the anchored part, with the proofs that belong to the forged tree and with honest ones.
    function rewrite(uint256 position, uint256 growth) external {
        uint256 anchored = ledger.head(id).size;
        if (anchored == 0) return;
        uint256 size = bound(growth, anchored, MOST_ENTRIES + 8);
        bytes32[] memory forged = new bytes32[](size);
        for (uint256 i = 0; i < size; ++i) {
            forged[i] = i < anchored ? _leaves[i] : _fresh();
        }
        (, bytes32[] memory honestProof) = _extension(forged, size);
        forged[bound(position, 0, anchored - 1)] = _fresh();
        (bytes32 root, bytes32[] memory proof) = _extension(forged, size);
        _refused(uint64(size), root, proof, "a writer rewrote its history");
        _refused(uint64(size), root, honestProof, "a writer rewrote its history behind an honest proof");
        done[Act.RewriteRefused]++;
    }

    function shrink(uint256 to) external {
        uint256 anchored = ledger.head(id).size;
        if (anchored == 0) return;
        uint256 size = bound(to, 0, anchored - 1);
        bytes32 root = MerkleReference.root(_leaves, size);
        bytes32[] memory proof = MerkleReference.consistencyProof(_leaves, size, anchored);
        _refused(uint64(size), root, proof, "a ledger shrank");
        _refused(uint64(size), root, new bytes32[](0), "a ledger shrank");
        done[Act.ShrinkRefused]++;
    }

    function replay() external {
        if (_lastSignature.length == 0) return;
        IAnchoredLedger.Head memory head = ledger.head(id);
        try ledger.anchor(id, head.size, head.root, new bytes32[](0), _lastSignature) {
            _break("a relayed signature was good twice");
        } catch {
            done[Act.ReplayRefused]++;
        }
    }

    function stranger(uint256 seed) external {
        (bytes32 root, bytes32[] memory proof) = _extension(_leaves, ledger.head(id).size);
        vm.prank(address(uint160(bound(seed, 1, 1e6))));
        try ledger.anchor(id, ledger.head(id).size, root, proof, "") {
            _break("a stranger anchored");
        } catch {
            done[Act.StrangerRefused]++;
        }
    }

    /// @dev A second ledger of the same writer takes the mark, so that the first goes on.
    function equivocate(uint256 salt) external {
        bytes32 other = ledger.open(string.concat("other.example/", string(abi.encodePacked(salt, ++_entropy))), writer);
        IAnchoredLedger.SignedHead memory a = IAnchoredLedger.SignedHead(other, 5, _fresh());
        IAnchoredLedger.SignedHead memory b = IAnchoredLedger.SignedHead(other, 5, _fresh());
        ledger.proveEquivocation(a, _signHead(a), b, _signHead(b));
        vm.prank(writer);
        try ledger.anchor(other, 0, sha256(""), new bytes32[](0), "") {
            _break("a marked ledger was anchored");
        } catch {
            done[Act.Equivocation]++;
        }
        if (!ledger.isEquivocated(other) || ledger.isEquivocated(id)) _break("the wrong ledger was marked");
    }

    // ---------------------------------------------------------------------------------------- observation

    function expectedRoot() external view returns (bytes32) {
        return MerkleReference.root(_leaves, _leaves.length);
    }

    function expectedSize() external view returns (uint256) {
        return _leaves.length;
    }

    function anchors() external view returns (uint256) {
        return done[Act.Anchor] + done[Act.Relay] + done[Act.Heartbeat];
    }

    // ------------------------------------------------------------------------------------------ internals

    /// @dev New entries, also none: sizes stay small enough for the slow reference.
    function _grow(uint256 growth) private returns (uint256 size) {
        size = _leaves.length + bound(growth, 0, 7);
        if (size > MOST_ENTRIES) size = _leaves.length;
        while (_leaves.length < size) {
            _leaves.push(_fresh());
        }
    }

    function _extension(bytes32[] memory leaves, uint256 size)
        private
        view
        returns (bytes32 root, bytes32[] memory proof)
    {
        root = MerkleReference.root(leaves, size);
        proof = MerkleReference.consistencyProof(leaves, ledger.head(id).size, size);
    }

    function _refused(uint64 size, bytes32 root, bytes32[] memory proof, string memory message) private {
        vm.prank(writer);
        try ledger.anchor(id, size, root, proof, "") {
            _break(message);
        } catch {}
    }

    /// @dev Every entry that was ever anchored is included in what is anchored now.
    function _check() private {
        uint256 size = _leaves.length;
        if (size == 0) return;
        uint256 index = uint256(_fresh()) % size;
        bytes32[] memory proof = MerkleReference.inclusionProof(_leaves, index, size);
        if (!ledger.verifyInclusion(id, _leaves[index], uint64(index), proof)) _break("an entry was lost");
        if (ledger.verifyInclusion(id, _fresh(), uint64(index), proof)) _break("an entry was never there");
    }

    function _signHead(IAnchoredLedger.SignedHead memory head) private view returns (bytes memory) {
        return _sign(keccak256(abi.encode(keccak256("Head(bytes32 ledgerId,uint64 size,bytes32 root)"), head)));
    }

    function _sign(bytes32 terms) private view returns (bytes memory) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
                ),
                keccak256("Tallystick AnchoredLedger"),
                keccak256("1"),
                block.chainid,
                address(ledger)
            )
        );
        return signed(WRITER_KEY, keccak256(abi.encodePacked(hex"1901", domain, terms)));
    }

    function _fresh() private returns (bytes32) {
        return keccak256(abi.encode("entry", ++_entropy));
    }

    function _break(string memory message) private {
        if (bytes(broken).length == 0) broken = message;
    }
}
