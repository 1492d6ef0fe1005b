import { hash } from "node:crypto";
import { sha256By } from "tallystick-protocol/sha256";

/** SHA-256 by OpenSSL. */
export const sha256ByNode = sha256By(hash);
