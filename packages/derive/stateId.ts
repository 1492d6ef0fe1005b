/** The id of the one row of `state`. */
export const STATE_ID = "state";
