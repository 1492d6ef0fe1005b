/** ERC-8004: register an agent, post feedback for a paid hire, answer feedback, and check anybody's feedback. */
export { type CheckedFeedbackFile, checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
export type { FeedbackFile } from "tallystick-protocol/erc8004/feedbackFile";
export type { Finding } from "tallystick-protocol/erc8004/finding";
export { PUBLISHED_REGISTRIES } from "tallystick-protocol/erc8004/registries";
export type { ResponseContent } from "tallystick-protocol/erc8004/responseFile";
export { type PostedOrNot, type PostFeedbackParameters, postFeedback } from "./erc8004/postFeedback.ts";
export type { Posting } from "./erc8004/posting.ts";
export { type PostResponseParameters, postResponse } from "./erc8004/postResponse.ts";
export type { GasCost } from "./erc8004/quoteGas.ts";
export {
  type RegisterAgentParameters,
  type RegisteredOrNot,
  registerAgent,
} from "./erc8004/registerAgent.ts";
export { type ChainReader, type ChainRegistries, requireRegistries } from "./erc8004/registries.ts";
export {
  type VerifiedFeedback,
  type VerifyFeedbackParameters,
  verifyFeedback,
} from "./erc8004/verifyFeedback.ts";
