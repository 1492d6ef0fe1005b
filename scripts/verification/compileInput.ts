import { createRequire } from "node:module";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { Abi } from "viem";
import type { StandardInput } from "./standardInput.ts";

/** The compiler's output for one contract. */
export type Compiled = { abi: Abi; initCode: Hex; compiler: string };

type Output = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: {
    [source: string]: { [name: string]: { abi: Abi; evm: { bytecode: { object: string } } } };
  };
};

/**
 * Compiles a standard JSON input with the compiler that npm installed, without a download.
 *
 * @throws TallystickError `not_compiled` with the compiler's message
 */
export function compileInput(input: StandardInput, source: string, contract: string): Compiled {
  const solc = createRequire(import.meta.url)("solc") as {
    compile: (input: string) => string;
    version: () => string;
  };
  const output: Output = JSON.parse(solc.compile(JSON.stringify(input)));
  const compiled = output.contracts?.[source]?.[contract];
  if (compiled === undefined) {
    const [error] = (output.errors ?? []).filter(({ severity }) => severity === "error");
    throw new TallystickError({
      code: "not_compiled",
      message: `${contract} does not compile: ${error?.formattedMessage ?? "the compiler does not say why"}`,
      hint: "Restore contracts/frozen/ from version control. Only `npm run freeze` writes that folder.",
    });
  }
  return {
    abi: compiled.abi,
    initCode: `0x${compiled.evm.bytecode.object}`,
    // "0.8.37+commit.f401782d.Emscripten.clang" is the same compiler as any other build of that commit.
    compiler: solc.version().replace(/\.Emscripten.*$/, ""),
  };
}
