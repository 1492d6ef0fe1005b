import { parseAbi } from "viem";

/**
 * ERC-8004's identity registry, version 2.0.0 (erc-8004-contracts at b9e466c): an ERC-721 token for each identity, and
 * a wallet that agreed to stand for it.
 */
export const identityRegistryAbi = parseAbi([
  "struct MetadataEntry { string metadataKey; bytes metadataValue; }",
  "error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)",
  "error ERC721InsufficientApproval(address operator, uint256 tokenId)",
  "error ERC721InvalidReceiver(address receiver)",
  "error ERC721NonexistentToken(uint256 tokenId)",
  "event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)",
  "event Registered(uint256 indexed agentId, string agentURI, address indexed owner)",
  "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
  "event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy)",
  "event Upgraded(address indexed implementation)",
  "function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)",
  "function getAgentWallet(uint256 agentId) view returns (address)",
  "function getMetadata(uint256 agentId, string metadataKey) view returns (bytes)",
  "function getVersion() pure returns (string)",
  "function isAuthorizedOrOwner(address spender, uint256 agentId) view returns (bool)",
  "function ownerOf(uint256 tokenId) view returns (address)",
  "function register() returns (uint256 agentId)",
  "function register(string agentURI) returns (uint256 agentId)",
  "function register(string agentURI, MetadataEntry[] metadata) returns (uint256 agentId)",
  "function safeTransferFrom(address from, address to, uint256 tokenId)",
  "function setAgentURI(uint256 agentId, string newURI)",
  "function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes signature)",
  "function setMetadata(uint256 agentId, string metadataKey, bytes metadataValue)",
  "function tokenURI(uint256 tokenId) view returns (string)",
  "function transferFrom(address from, address to, uint256 tokenId)",
  "function unsetAgentWallet(uint256 agentId)",
]);
