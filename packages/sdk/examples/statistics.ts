/** Computes one number about a list of numbers, for `compute.statistics.*`. */
export function statistic(operation: string, data: readonly number[]): number {
  const sorted = [...data].sort((a, b) => a - b);
  const mean = data.reduce((sum, value) => sum + value, 0) / data.length;
  const variance = data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / data.length;
  const at = (index: number): number => sorted[Math.min(Math.max(index, 0), sorted.length - 1)] as number;
  switch (operation) {
    case "mean":
      return mean;
    case "median":
      return (at(Math.floor((data.length - 1) / 2)) + at(Math.floor(data.length / 2))) / 2;
    case "variance":
      return variance;
    case "stddev":
      return Math.sqrt(variance);
    case "percentile-95":
      return at(Math.ceil(0.95 * data.length) - 1);
    default:
      throw new Error(`${operation} is not implemented here`);
  }
}
