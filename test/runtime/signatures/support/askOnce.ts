// Asks a thread about a signature, prints the answer, and has nothing else to do.
import { SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";

const threads = new SignatureThreads({ most: 2, onEnd: console.log });
console.log(JSON.stringify(await threads.ask([["{}", "0x"]])));
