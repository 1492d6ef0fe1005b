// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title The Identity Registry of ERC-8004 for tests, written from the text of the EIP
/// @notice It has the functions, the events and the order of events of the deployed registry, and stands behind a proxy
/// too. The fork suite runs the same tests against both. Never deployed.
contract Erc8004Identity is ERC721URIStorage, EIP712, Initializable, UUPSUpgradeable {
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    string private constant WALLET_KEY = "agentWallet";
    uint256 private constant LONGEST_DEADLINE = 5 minutes;
    bytes32 private constant WALLET_TYPEHASH =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");

    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    event MetadataSet(
        uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue
    );
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);

    error NotAdmin(address caller);
    error NotAuthorized(address caller, uint256 agentId);
    error ReservedKey(string key);
    error ZeroWallet();
    error DeadlineOutside(uint256 deadline, uint256 from, uint256 to);
    error WalletDidNotSign(address wallet);

    address private _admin;
    uint256 private _nextId;
    mapping(uint256 agentId => mapping(string key => bytes value)) private _metadata;

    constructor() ERC721("AgentIdentity", "AGENT") EIP712("ERC8004IdentityRegistry", "1") {
        _disableInitializers();
    }

    /// @param admin who may upgrade the registry
    function initialize(address admin) external initializer {
        _admin = admin;
    }

    function register() external returns (uint256) {
        return _register("", new MetadataEntry[](0));
    }

    function register(string calldata agentURI) external returns (uint256) {
        return _register(agentURI, new MetadataEntry[](0));
    }

    function register(string calldata agentURI, MetadataEntry[] calldata metadata) external returns (uint256) {
        return _register(agentURI, metadata);
    }

    function setAgentURI(uint256 agentId, string calldata newURI) external {
        _requireController(agentId);
        _setTokenURI(agentId, newURI);
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    function setMetadata(uint256 agentId, string calldata key, bytes calldata value) external {
        _requireController(agentId);
        _requireFree(key);
        _setMetadata(agentId, key, value);
    }

    /// @notice Sets the address that receives the agent's payments. That address must sign its consent.
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature)
        external
    {
        address owner = _requireController(agentId);
        require(newWallet != address(0), ZeroWallet());
        uint256 last = block.timestamp + LONGEST_DEADLINE;
        require(
            deadline >= block.timestamp && deadline <= last, DeadlineOutside(deadline, block.timestamp, last)
        );
        bytes32 digest =
            _hashTypedDataV4(keccak256(abi.encode(WALLET_TYPEHASH, agentId, newWallet, owner, deadline)));
        require(
            SignatureChecker.isValidSignatureNowCalldata(newWallet, digest, signature),
            WalletDidNotSign(newWallet)
        );
        _setMetadata(agentId, WALLET_KEY, abi.encodePacked(newWallet));
    }

    function unsetAgentWallet(uint256 agentId) external {
        _requireController(agentId);
        _setMetadata(agentId, WALLET_KEY, "");
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        return address(bytes20(_metadata[agentId][WALLET_KEY]));
    }

    function getMetadata(uint256 agentId, string calldata key) external view returns (bytes memory) {
        return _metadata[agentId][key];
    }

    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool) {
        return _isAuthorized(ownerOf(agentId), spender, agentId);
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    /// @dev The wallet is stored before the token is minted. The receiver's callback may transfer the token, which
    /// clears the wallet. But the events after that still name the registrant's wallet. A reader of events has to know
    /// this.
    function _register(string memory agentURI, MetadataEntry[] memory metadata) private returns (uint256 agentId) {
        agentId = _nextId++;
        _metadata[agentId][WALLET_KEY] = abi.encodePacked(msg.sender);
        _safeMint(msg.sender, agentId);
        if (bytes(agentURI).length > 0) _setTokenURI(agentId, agentURI);
        emit Registered(agentId, agentURI, msg.sender);
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, abi.encodePacked(msg.sender));
        for (uint256 i = 0; i < metadata.length; i++) {
            _requireFree(metadata[i].metadataKey);
            _setMetadata(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
        }
    }

    function _setMetadata(uint256 agentId, string memory key, bytes memory value) private {
        _metadata[agentId][key] = value;
        emit MetadataSet(agentId, key, key, value);
    }

    /// @dev A new owner must set its own wallet.
    function _update(address to, uint256 agentId, address auth) internal override returns (address) {
        if (_ownerOf(agentId) != address(0) && to != address(0)) _setMetadata(agentId, WALLET_KEY, "");
        return super._update(to, agentId, auth);
    }

    function _requireController(uint256 agentId) private view returns (address owner) {
        owner = ownerOf(agentId);
        require(_isAuthorized(owner, msg.sender, agentId), NotAuthorized(msg.sender, agentId));
    }

    function _requireFree(string memory key) private pure {
        require(keccak256(bytes(key)) != keccak256(bytes(WALLET_KEY)), ReservedKey(key));
    }

    function _authorizeUpgrade(address) internal view override {
        require(msg.sender == _admin, NotAdmin(msg.sender));
    }
}
