import { hash } from "node:crypto";
import type { HashText } from "../../protocol/ledger/hashText.ts";

/** SHA-256 of ASCII text by OpenSSL: several times as fast as plain JavaScript on a ledger's lines. */
export const hashTextByNode: HashText = (text) => hash("sha256", text, "buffer");
