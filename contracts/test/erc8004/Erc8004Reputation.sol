// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {Erc8004Identity} from "./Erc8004Identity.sol";

/// @title The Reputation Registry of ERC-8004 for tests, written from the text of the EIP
/// @notice It has the events, the rules and the view functions of the deployed registry that this repository uses.
/// `getSummary` is not among them. The fork suite runs the same tests against both. Never deployed.
contract Erc8004Reputation is Initializable, UUPSUpgradeable {
    struct Feedback {
        int128 value;
        uint8 valueDecimals;
        bool isRevoked;
        string tag1;
        string tag2;
    }

    uint8 private constant MOST_DECIMALS = 18;
    int128 private constant LARGEST_VALUE = 1e38;

    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    event FeedbackRevoked(
        uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex
    );
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    error NotAdmin(address caller);
    error TooManyDecimals(uint8 decimals, uint8 limit);
    error ValueTooLarge(int128 value, int128 limit);
    error SelfFeedback(address client, uint256 agentId);
    error NoSuchFeedback(uint64 index, uint64 last);
    error RevokedBefore(uint64 index);
    error EmptyURI();

    address private _admin;
    Erc8004Identity private _identities;
    /// @dev The feedback with index n of a client is at position n - 1.
    mapping(uint256 agentId => mapping(address client => Feedback[])) private _feedback;
    mapping(uint256 agentId => address[]) private _clients;
    mapping(bytes32 feedback => mapping(address responder => uint64)) private _responses;
    mapping(bytes32 feedback => uint64) private _allResponses;

    constructor() {
        _disableInitializers();
    }

    /// @param admin who may upgrade the registry
    function initialize(address admin, Erc8004Identity identityRegistry) external initializer {
        _admin = admin;
        _identities = identityRegistry;
    }

    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string calldata tag1,
        string calldata tag2,
        string calldata endpoint,
        string calldata feedbackURI,
        bytes32 feedbackHash
    ) external {
        require(valueDecimals <= MOST_DECIMALS, TooManyDecimals(valueDecimals, MOST_DECIMALS));
        require(value >= -LARGEST_VALUE && value <= LARGEST_VALUE, ValueTooLarge(value, LARGEST_VALUE));
        require(!_identities.isAuthorizedOrOwner(msg.sender, agentId), SelfFeedback(msg.sender, agentId));
        Feedback[] storage given = _feedback[agentId][msg.sender];
        if (given.length == 0) _clients[agentId].push(msg.sender);
        given.push(Feedback(value, valueDecimals, false, tag1, tag2));
        emit NewFeedback(
            agentId,
            msg.sender,
            uint64(given.length),
            value,
            valueDecimals,
            tag1,
            tag1,
            tag2,
            endpoint,
            feedbackURI,
            feedbackHash
        );
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        Feedback storage feedback = _at(agentId, msg.sender, feedbackIndex);
        require(!feedback.isRevoked, RevokedBefore(feedbackIndex));
        feedback.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    /// @notice Anyone can respond to a feedback.
    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        _at(agentId, clientAddress, feedbackIndex);
        require(bytes(responseURI).length > 0, EmptyURI());
        bytes32 key = _keyOf(agentId, clientAddress, feedbackIndex);
        _responses[key][msg.sender]++;
        _allResponses[key]++;
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        Feedback storage it = _at(agentId, clientAddress, feedbackIndex);
        return (it.value, it.valueDecimals, it.tag1, it.tag2, it.isRevoked);
    }

    /// @notice Number of responses to one feedback: of these responders, or of all.
    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders
    ) external view returns (uint64 count) {
        bytes32 key = _keyOf(agentId, clientAddress, feedbackIndex);
        if (responders.length == 0) return _allResponses[key];
        for (uint256 i = 0; i < responders.length; i++) count += _responses[key][responders[i]];
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return uint64(_feedback[agentId][clientAddress].length);
    }

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _clients[agentId];
    }

    function getIdentityRegistry() external view returns (address) {
        return address(_identities);
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    /// @dev Indexes begin at 1.
    function _at(uint256 agentId, address client, uint64 index) private view returns (Feedback storage) {
        Feedback[] storage given = _feedback[agentId][client];
        require(index > 0 && index <= given.length, NoSuchFeedback(index, uint64(given.length)));
        return given[index - 1];
    }

    function _keyOf(uint256 agentId, address client, uint64 index) private pure returns (bytes32) {
        return keccak256(abi.encode(agentId, client, index));
    }

    function _authorizeUpgrade(address) internal view override {
        require(msg.sender == _admin, NotAdmin(msg.sender));
    }
}
