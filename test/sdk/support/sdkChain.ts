// The chain of the tests is that of the soak and the benchmark.
export * from "../../../scripts/bench/hire/sdkChain.ts";
