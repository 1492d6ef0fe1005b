// Asks a thread about a signature and prints the answer. After that the process has nothing to do.
import { SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";

const threads = new SignatureThreads({ most: 2, onEnd: console.log });
console.log(JSON.stringify(await threads.ask([["{}", "0x"]])));
