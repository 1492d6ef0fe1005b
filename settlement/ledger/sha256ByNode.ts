import { hash } from "node:crypto";
import { sha256By } from "../../protocol/sha256.ts";

/** SHA-256 by OpenSSL. */
export const sha256ByNode = sha256By(hash);
