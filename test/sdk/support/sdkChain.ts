// The tests use the same chain as the soak and the benchmark.
export * from "../../../tools/bench/hire/sdkChain.ts";
