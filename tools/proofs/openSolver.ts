import { init } from "z3-solver";

/** Z3 in this process, one query at a time. */
export type Solver = {
  /** The output of Z3 for an SMT-LIB text; "unknown" when `effort` (Z3's resource units) was not enough. */
  answer: (query: string, effort: number) => Promise<string>;
  /** Ends Z3's threads, which would keep this process running. */
  close: () => void;
};

/** The low-level parts of Z3's WebAssembly module, which its public interface does not offer. */
type Module = {
  _malloc: (bytes: number) => number;
  _free: (pointer: number) => void;
  HEAPU8: Uint8Array;
  ccall: (name: string, returns: string, types: string[], values: unknown[]) => void;
  async_call: (call: () => void) => Promise<string>;
  PThread: { terminateAllThreads: () => void };
};

/** Starts Z3. */
export async function openSolver(): Promise<Solver> {
  const { Z3, em } = await init();
  const module = em as Module;
  return {
    async answer(query, effort) {
      const config = Z3.mk_config();
      const context = Z3.mk_context(config);
      Z3.del_config(config);
      // This limits the work and not the time, so the answer is the same on a busy machine.
      const limited = `(set-option :rlimit ${effort})\n${query.replace(/\(set-option :(timeout|rlimit) \d+\)/g, "")}`;
      // Z3's own `eval_smtlib2_string` puts the text on a stack that is freed before its thread reads it.
      // Short texts survive this, long ones do not. So the text is put into allocated memory.
      const text = Buffer.from(`${limited}\0`);
      const pointer = module._malloc(text.length);
      module.HEAPU8.set(text, pointer);
      try {
        return await module.async_call(() =>
          module.ccall("async_Z3_eval_smtlib2_string", "void", ["number", "number"], [context, pointer]),
        );
      } finally {
        module._free(pointer);
        Z3.del_context(context);
      }
    },
    close: () => module.PThread.terminateAllThreads(),
  };
}
