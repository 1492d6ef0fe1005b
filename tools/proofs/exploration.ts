import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { compile } from "../mutation/compiler.ts";
import type { InsertedFault } from "./properties.ts";
import { applyChange } from "./proveProperty.ts";

const escrow = "contracts/HireEscrow.sol";
const book = "contracts/EscrowBook.sol";

/**
 * Steps of an exploration that must never succeed. If any other step never succeeds, the exploration proves nothing
 * about it.
 */
export const IMPOSSIBLE = ["RefundByStranger"];

/** The claim about the whole escrow, including its calls to token and wallets, in one small world. */
export const exploration = {
  name: "HireEscrow",
  claim:
    "In every order of calls and signatures by anybody, a hire pays exactly its amount, once, and only to its parties. Before its deadline, it pays only if a party has sent or signed that. A pause moves nothing, and no other hire is touched.",
  faults: [
    {
      what: "a refund accepts the signature for a release",
      file: escrow,
      find: "bytes32 terms = keccak256(abi.encode(REFUND_TYPEHASH, id, signer));",
      replace: "bytes32 terms = keccak256(abi.encode(RELEASE_TYPEHASH, id));",
    },
    {
      what: "the seller may spend the buyer's allowance",
      file: escrow,
      find: "            _requireSender(msg.sender, buyer);\n        } else if",
      replace:
        "            if (msg.sender != hire.seller) _requireSender(msg.sender, buyer);\n        } else if",
    },
    {
      what: "the guardian releases",
      file: escrow,
      find: "if (signature.length == 0) _requireSender(msg.sender, buyer);",
      replace:
        "if (msg.sender == guardian) {}\n        else if (signature.length == 0) _requireSender(msg.sender, buyer);",
    },
    {
      what: "an overdue hire is paid to its payee once delivered",
      file: escrow,
      find: "emit TimedOut(id, hire.buyer, hire.seller, amount, delivered);\n        _push(id, hire.buyer, amount);",
      replace:
        "emit TimedOut(id, hire.buyer, hire.seller, amount, delivered);\n        _push(id, delivered ? hire.payee : hire.buyer, amount);",
    },
    {
      what: "a deposit may bring more than its amount",
      file: escrow,
      find: "if (current != before + amount) revert AmountMoved(",
      replace: "if (current < before + amount) revert AmountMoved(",
    },
    {
      what: "a partial payment counts as a full payment",
      file: escrow,
      find: "if (current + amount == before) return;",
      replace: "if (current < before) return;",
    },
    {
      what: "a credit can be withdrawn again",
      file: book,
      find: "_credits[account] = 0;",
      replace: "",
    },
  ] satisfies InsertedFault[],
};

/** The init code of HireEscrow with an inserted fault. */
export function compileWith(fault: InsertedFault): string {
  const source = "contracts/HireEscrow.sol";
  const replaced = { [fault.file]: applyChange(fault) };
  const targets = [{ source, contract: "HireEscrow" }];
  const compiled = compile({ folder: repositoryRoot, source, targets, replaced, quick: true });
  if ("errors" in compiled) throw new Error(`${fault.what}: ${compiled.errors[0]?.message}`);
  return `0x${compiled.codes[0]?.bytecode}`;
}
