// Generated from the compiled contract by scripts/generate-abi.ts. Do not edit.
export const anchoredLedgerAbi = [
  {
    "inputs": [],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "AlreadyOpen",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "AlreadyWriter",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "GuardianAnnounced",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "enum Rfc9162.Verdict",
        "name": "reason",
        "type": "uint8"
      },
      {
        "internalType": "uint64",
        "name": "oldSize",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "newSize",
        "type": "uint64"
      }
    ],
    "name": "Inconsistent",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidShortString",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "writer",
        "type": "address"
      }
    ],
    "name": "InvalidSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "LedgerEquivocated",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "signer",
        "type": "address"
      },
      {
        "internalType": "uint64",
        "name": "size",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "lastSize",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "until",
        "type": "uint64"
      }
    ],
    "name": "NoEvidence",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "actual",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "next",
        "type": "address"
      }
    ],
    "name": "NotAnnounced",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "actual",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "writer",
        "type": "address"
      }
    ],
    "name": "NotWriter",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "actual",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "writer",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "guardian",
        "type": "address"
      }
    ],
    "name": "NotWriterOrGuardian",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "NothingAnnounced",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "actual",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "limit",
        "type": "uint256"
      }
    ],
    "name": "OriginLength",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "name": "RootsAgree",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint64",
        "name": "a",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "b",
        "type": "uint64"
      }
    ],
    "name": "SizesDiffer",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "str",
        "type": "string"
      }
    ],
    "name": "StringTooLong",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint64",
        "name": "time",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "readyAt",
        "type": "uint64"
      }
    ],
    "name": "TooEarly",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "UnknownLedger",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "WasWriter",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "WriterIsZero",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "uint64",
        "name": "seq",
        "type": "uint64"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "oldSize",
        "type": "uint64"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "newSize",
        "type": "uint64"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "name": "Anchored",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "by",
        "type": "address"
      }
    ],
    "name": "AnnouncementWithdrawn",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "EIP712DomainChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "size",
        "type": "uint64"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "ownRoot",
        "type": "bytes32"
      }
    ],
    "name": "Equivocated",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "writer",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "guardian",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "string",
        "name": "origin",
        "type": "string"
      }
    ],
    "name": "Opened",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "next",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "by",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "readyAt",
        "type": "uint64"
      }
    ],
    "name": "WriterAnnounced",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "previous",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "next",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "size",
        "type": "uint64"
      }
    ],
    "name": "WriterChanged",
    "type": "event"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "acceptWriter",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "internalType": "uint64",
        "name": "newSize",
        "type": "uint64"
      },
      {
        "internalType": "bytes32",
        "name": "newRoot",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32[]",
        "name": "consistencyProof",
        "type": "bytes32[]"
      },
      {
        "internalType": "bytes",
        "name": "signature",
        "type": "bytes"
      }
    ],
    "name": "anchor",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "next",
        "type": "address"
      }
    ],
    "name": "announceWriter",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "announcedWriter",
    "outputs": [
      {
        "internalType": "address",
        "name": "next",
        "type": "address"
      },
      {
        "internalType": "uint64",
        "name": "readyAt",
        "type": "uint64"
      },
      {
        "internalType": "bool",
        "name": "halted",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "eip712Domain",
    "outputs": [
      {
        "internalType": "bytes1",
        "name": "fields",
        "type": "bytes1"
      },
      {
        "internalType": "string",
        "name": "name",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "version",
        "type": "string"
      },
      {
        "internalType": "uint256",
        "name": "chainId",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "verifyingContract",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "salt",
        "type": "bytes32"
      },
      {
        "internalType": "uint256[]",
        "name": "extensions",
        "type": "uint256[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "formerWriter",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "size",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "until",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "guardianOf",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "head",
    "outputs": [
      {
        "components": [
          {
            "internalType": "bytes32",
            "name": "root",
            "type": "bytes32"
          },
          {
            "internalType": "uint64",
            "name": "size",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "time",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "seq",
            "type": "uint64"
          }
        ],
        "internalType": "struct IAnchoredLedger.Head",
        "name": "",
        "type": "tuple"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "isEquivocated",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "maxAge",
        "type": "uint256"
      }
    ],
    "name": "isStale",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "origin",
        "type": "string"
      },
      {
        "internalType": "address",
        "name": "writer",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "guardian",
        "type": "address"
      }
    ],
    "name": "open",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "components": [
          {
            "internalType": "enum IAnchoredLedger.WordKind",
            "name": "kind",
            "type": "uint8"
          },
          {
            "internalType": "address",
            "name": "signer",
            "type": "address"
          },
          {
            "internalType": "uint64",
            "name": "seq",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "size",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "root",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "signature",
            "type": "bytes"
          }
        ],
        "internalType": "struct IAnchoredLedger.Word",
        "name": "a",
        "type": "tuple"
      },
      {
        "components": [
          {
            "internalType": "enum IAnchoredLedger.WordKind",
            "name": "kind",
            "type": "uint8"
          },
          {
            "internalType": "address",
            "name": "signer",
            "type": "address"
          },
          {
            "internalType": "uint64",
            "name": "seq",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "size",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "root",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "signature",
            "type": "bytes"
          }
        ],
        "internalType": "struct IAnchoredLedger.Word",
        "name": "b",
        "type": "tuple"
      },
      {
        "internalType": "bytes32",
        "name": "ownRoot",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32[]",
        "name": "consistencyProof",
        "type": "bytes32[]"
      }
    ],
    "name": "proveFork",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "leafHash",
        "type": "bytes32"
      },
      {
        "internalType": "uint64",
        "name": "index",
        "type": "uint64"
      },
      {
        "internalType": "bytes32[]",
        "name": "proof",
        "type": "bytes32[]"
      }
    ],
    "name": "verifyInclusion",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "leafHash",
        "type": "bytes32"
      },
      {
        "internalType": "uint64",
        "name": "index",
        "type": "uint64"
      },
      {
        "internalType": "bytes32[]",
        "name": "inclusionProof",
        "type": "bytes32[]"
      },
      {
        "internalType": "uint64",
        "name": "size",
        "type": "uint64"
      },
      {
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32[]",
        "name": "consistencyProof",
        "type": "bytes32[]"
      }
    ],
    "name": "verifyInclusionAt",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "ledgerId",
        "type": "bytes32"
      }
    ],
    "name": "writerOf",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  }
] as const;
