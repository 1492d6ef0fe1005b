/** The most members of a cluster that are asked for and compared. Only the largest clusters have more. */
export const MAX_MEMBERS = 100;
