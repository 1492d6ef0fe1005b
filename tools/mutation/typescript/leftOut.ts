/**
 * Patterns of files that no test of the rooms needs, and that are not copied. A pattern with a slash at its beginning
 * is a path from the repository's root. `cache` and `artifacts` are copied, so that the contracts are not built again.
 */
export const LEFT_OUT = [".tallystick", "coverage", "dist", "/ignition", "generated", "**/.ponder"];
