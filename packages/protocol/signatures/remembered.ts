import { KnownSigners } from "./knownSigners.ts";
import type { RecoverPublicKey } from "./recoverPublicKey.ts";

/** Recovery that remembers the signers of bodies that are still in use. */
export function remembered(recover: RecoverPublicKey): RecoverPublicKey & { readonly known: KnownSigners } {
  const again: RecoverPublicKey = (hash, signature, recovery) => recover(hash, signature, recovery);
  return Object.assign(again, { known: new KnownSigners() });
}
