// Asks a thread about a signature, prints the answer, and has nothing else to do.
import { SignerThreads } from "../../../../indexer/src/segments/signerThreads.ts";

const threads = new SignerThreads({ onEnd: console.log });
console.log(JSON.stringify(await threads.ask([["{}", "0x"]])));
