// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAnchoredLedger} from "../interfaces/IAnchoredLedger.sol";
import {MerkleReference} from "./MerkleReference.sol";
import {TestBase} from "./Vm.sol";

/// @title A writer that anchors, and also tries everything that it must not do
/// @notice Keeps the entries of every head that was accepted. {broken} holds the first broken rule.
contract LedgerHandler is TestBase {
    enum Act {
        Anchor,
        Relay,
        Heartbeat,
        RewriteRefused,
        ShrinkRefused,
        ReplayRefused,
        StrangerRefused,
        ForkProven,
        HonestWordsKept,
        WriterAnnounced,
        GuardianAnnounced,
        HaltedRefused,
        WriterChanged,
        EarlyRefused
    }

    /// @dev Each new writer has the next key: 0x5eed, 0x5eee, …
    uint256 private constant FIRST_WRITER_KEY = 0x5eed;
    uint256 private constant GUARDIAN_KEY = 0x6a7d;
    uint256 private constant MOST_ENTRIES = 20;

    IAnchoredLedger public immutable ledger;
    address public immutable guardian;
    bytes32 public immutable id;
    address public writer;

    uint256 private _writerKey = FIRST_WRITER_KEY;
    IAnchoredLedger.Word[] private _words;

    bytes32[] private _leaves;
    bytes private _lastSignature;
    uint256 private _entropy;

    mapping(Act act => uint256) public done;
    string public broken;

    constructor() {
        writer = vm.addr(_writerKey);
        guardian = vm.addr(GUARDIAN_KEY);
        ledger = IAnchoredLedger(deployed("AnchoredLedger", ""));
        id = ledger.open("handler.example", writer, guardian);
    }

    // ------------------------------------------------------------------------------- what a writer may do

    function anchor(uint256 growth) external {
        if (_halted()) return;
        uint256 size = _grow(growth);
        (bytes32 root, bytes32[] memory proof) = _extension(_leaves, size);
        vm.prank(writer);
        ledger.anchor(id, uint64(size), root, proof, "");
        done[Act.Anchor]++;
        _check();
    }

    function relay(uint256 growth) external {
        if (_halted()) return;
        uint256 size = _grow(growth);
        (bytes32 root, bytes32[] memory proof) = _extension(_leaves, size);
        uint64 seq = ledger.head(id).seq + 1;
        IAnchoredLedger.Word memory word = _word(IAnchoredLedger.WordKind.Anchor, seq, size, root);
        _lastSignature = word.signature;
        _words.push(word);
        ledger.anchor(id, uint64(size), root, proof, _lastSignature);
        done[Act.Relay]++;
        _check();
    }

    function heartbeat() external {
        if (_halted()) return;
        IAnchoredLedger.Head memory head = ledger.head(id);
        vm.prank(writer);
        ledger.anchor(id, head.size, head.root, new bytes32[](0), "");
        done[Act.Heartbeat]++;
        _check();
    }

    /// @dev Signs a head as under a checkpoint: an anchored head or a smaller one of the same history.
    function signHead(uint256 size) external {
        if (_leaves.length == 0) return;
        size = bound(size, 0, _leaves.length);
        _words.push(_word(IAnchoredLedger.WordKind.Head, 0, size, MerkleReference.root(_leaves, size)));
    }

    function wait_(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 1, 5 days));
    }

    // ----------------------------------------------------------------------------------------- succession

    function announce(bool byGuardian, uint256 seed) external {
        if (_halted() && !byGuardian) return;
        (address announced,,) = ledger.announcedWriter(id);
        // Rarely repeats an announcement, because each one starts the seven days again.
        if (announced != address(0) && seed % 8 != 0) return;
        vm.prank(byGuardian ? guardian : writer);
        ledger.announceWriter(id, vm.addr(_writerKey + 1));
        done[byGuardian ? Act.GuardianAnnounced : Act.WriterAnnounced]++;
    }

    function withdraw(bool byGuardian, uint256 seed) external {
        (address next,,) = ledger.announcedWriter(id);
        if (next == address(0) || seed % 4 != 0 || (_halted() && !byGuardian)) return;
        vm.prank(byGuardian ? guardian : writer);
        ledger.announceWriter(id, writer);
    }

    function accept() external {
        (address next, uint64 readyAt,) = ledger.announcedWriter(id);
        if (next == address(0)) return;
        vm.prank(next);
        if (block.timestamp < readyAt) {
            try ledger.acceptWriter(id) {
                _break("a writer was changed too early");
            } catch {
                done[Act.EarlyRefused]++;
            }
            return;
        }
        ledger.acceptWriter(id);
        writer = next;
        _writerKey++;
        done[Act.WriterChanged]++;
    }

    /// @dev While the guardian's announcement stands, the writer can neither anchor nor withdraw it.
    function defy() external {
        if (!_halted()) return;
        IAnchoredLedger.Head memory head = ledger.head(id);
        _refused(head.size, head.root, new bytes32[](0), "a writer anchored against the guardian");
        vm.prank(writer);
        try ledger.announceWriter(id, writer) {
            _break("a writer withdrew the guardian's announcement");
        } catch {
            done[Act.HaltedRefused]++;
        }
    }

    // ------------------------------------------------------------------------------- what nobody may do

    /// @dev Replaces an entry in the anchored part. Tries the proof of the forged tree and the proof of the honest
    /// tree.
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
        if (_lastSignature.length == 0 || _halted()) return;
        IAnchoredLedger.Head memory head = ledger.head(id);
        try ledger.anchor(id, head.size, head.root, new bytes32[](0), _lastSignature) {
            _break("a relayed signature worked twice");
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

    /// @dev Tries any two of the signed words and the stored head, with the correct proofs.
    function convictHonest(uint256 first, uint256 second) external {
        if (_words.length == 0) return;
        IAnchoredLedger.Word memory a = _anyWord(first);
        IAnchoredLedger.Word memory b = _anyWord(second);
        if (a.size > b.size) (a, b) = (b, a);
        bytes32 ownRoot = MerkleReference.root(_leaves, a.size);
        bytes32[] memory proof = MerkleReference.consistencyProof(_leaves, a.size, b.size);
        try ledger.proveFork(id, a, b, ownRoot, proof) {
            _break("honest words marked the ledger");
        } catch {}
        try ledger.proveFork(id, a, b, _fresh(), proof) {
            _break("a wrong root marked the ledger");
        } catch {
            done[Act.HonestWordsKept]++;
        }
    }

    /// @dev A second ledger of the same writer is marked, so that the first ledger can go on. The evidence is two
    /// words: one of a shorter tree with a false entry, and one of the longer tree.
    function fork(uint256 salt, uint256 shorter, uint256 longer, uint256 position) external {
        bytes32 other =
            ledger.open(string.concat("other.example/", string(abi.encodePacked(salt, ++_entropy))), writer, guardian);
        longer = bound(longer, 1, MOST_ENTRIES);
        shorter = bound(shorter, 1, longer);
        bytes32[] memory leaves = new bytes32[](longer);
        for (uint256 i = 0; i < longer; ++i) {
            leaves[i] = _fresh();
        }
        bytes32 root = MerkleReference.root(leaves, longer);
        bytes32 ownRoot = MerkleReference.root(leaves, shorter);
        bytes32[] memory proof = MerkleReference.consistencyProof(leaves, shorter, longer);
        leaves[bound(position, 0, shorter - 1)] = _fresh();
        bytes32 falseRoot = MerkleReference.root(leaves, shorter);

        IAnchoredLedger.Word memory a = _wordOf(other, IAnchoredLedger.WordKind.Head, 0, shorter, falseRoot);
        IAnchoredLedger.Word memory b = _wordOf(other, IAnchoredLedger.WordKind.Anchor, 1, longer, root);
        if (salt % 2 == 0) {
            vm.prank(writer);
            ledger.anchor(other, uint64(longer), root, new bytes32[](0), "");
            b.kind = IAnchoredLedger.WordKind.Stored;
        }
        ledger.proveFork(other, a, b, ownRoot, proof);
        vm.prank(writer);
        try ledger.anchor(other, 0, sha256(""), new bytes32[](0), "") {
            _break("a marked ledger was anchored");
        } catch {
            done[Act.ForkProven]++;
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

    /// @dev Adds new entries, or none. The sizes stay small, because the reference code is slow.
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

    /// @dev Checks that a random anchored entry is included, and that an unknown entry is not.
    function _check() private {
        uint256 size = _leaves.length;
        if (size == 0) return;
        uint256 index = uint256(_fresh()) % size;
        bytes32[] memory proof = MerkleReference.inclusionProof(_leaves, index, size);
        if (!ledger.verifyInclusion(id, _leaves[index], uint64(index), proof)) _break("an entry was lost");
        if (ledger.verifyInclusion(id, _fresh(), uint64(index), proof)) _break("a false entry was included");
    }

    function _halted() private view returns (bool halted) {
        (,, halted) = ledger.announcedWriter(id);
    }

    /// @dev One of the signed words, or the stored head with its size and root filled in.
    function _anyWord(uint256 seed) private view returns (IAnchoredLedger.Word memory word) {
        seed = seed % (_words.length + 1);
        if (seed < _words.length) return _words[seed];
        IAnchoredLedger.Head memory head = ledger.head(id);
        word.size = head.size;
        word.root = head.root;
    }

    function _word(IAnchoredLedger.WordKind kind, uint64 seq, uint256 size, bytes32 root)
        private
        view
        returns (IAnchoredLedger.Word memory)
    {
        return _wordOf(id, kind, seq, size, root);
    }

    function _wordOf(bytes32 of_, IAnchoredLedger.WordKind kind, uint64 seq, uint256 size, bytes32 root)
        private
        view
        returns (IAnchoredLedger.Word memory)
    {
        bytes32 terms = kind == IAnchoredLedger.WordKind.Anchor
            ? keccak256(
                abi.encode(
                    keccak256("Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)"),
                    of_,
                    seq,
                    uint64(size),
                    root
                )
            )
            : keccak256(
                abi.encode(keccak256("Head(bytes32 ledgerId,uint64 size,bytes32 root)"), of_, uint64(size), root)
            );
        return IAnchoredLedger.Word(kind, writer, seq, uint64(size), root, _sign(terms));
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
        return signed(_writerKey, keccak256(abi.encodePacked(hex"1901", domain, terms)));
    }

    function _fresh() private returns (bytes32) {
        return keccak256(abi.encode("entry", ++_entropy));
    }

    function _break(string memory message) private {
        if (bytes(broken).length == 0) broken = message;
    }
}
