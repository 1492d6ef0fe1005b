import { fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import { anchoredLedger1 } from "tallystick-protocol/ledger/releases/anchoredLedger1";
import { domainImmutables } from "tallystick-protocol/signatures/domainImmutables";
import { readFrozen } from "../../scripts/ignition/frozenContract.ts";

/** The runtime code of the frozen AnchoredLedger, as the chain has it at this address. */
export function frozenLedgerCode(place: { chainId: number; address: Hex }): Hex {
  const { runtime, immutables } = anchoredLedger1;
  const code = fromHex(readFrozen("AnchoredLedger").initCode).slice(-runtime.length);
  const values = domainImmutables({ name: "Tallystick AnchoredLedger", version: "1", ...place });
  for (const [name, offsets] of Object.entries(immutables))
    for (const at of offsets) code.set(values[name] as Uint8Array, at);
  return toHex(code);
}
