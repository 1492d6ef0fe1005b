/** The exit code of a check that found no fault, but could not check everything. */
export const NOT_CHECKED = 2;
