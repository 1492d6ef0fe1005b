/** What the operator of a prober does if an answer of the node has a wrong form. */
export const nodeHint =
  "Check TALLYSTICK_URL. Something between this process and the node may have answered.";
