// The chain of the tests is that of the soak and the benchmark.
export * from "../../../tools/bench/hire/sdkChain.ts";
