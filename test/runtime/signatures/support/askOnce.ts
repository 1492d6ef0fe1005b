// Asks a thread about a signature and prints the answer. Then the process has no other work.
import { SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";

const threads = new SignatureThreads({ most: 2, patienceMs: 60_000, onEnd: console.log });
console.log(JSON.stringify(await threads.ask([["{}", "0x"]])));
