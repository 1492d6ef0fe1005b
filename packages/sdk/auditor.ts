/** For audits of hires: an auditor, its judges, and the types that it uses. */
export type { DisclosedHire, DisclosedWork, Disclosure } from "tallystick-protocol/audits/disclosure";
export { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
export {
  type AuditReason,
  type AuditReasonCode,
  auditReasonCodes,
} from "tallystick-protocol/records/auditReasons";
export type { NotShown } from "./auditor/askForWork.ts";
export type { AuditStage, AuditWork } from "./auditor/auditWork.ts";
export {
  type Auditor,
  type AuditorOffer,
  type CreateAuditorParameters,
  createAuditor,
} from "./auditor/createAuditor.ts";
export {
  type AuditCase,
  everyJudge,
  type Judge,
  type JudgeContext,
  type Judgement,
} from "./auditor/judge.ts";
export { type AuditDesk, personJudge } from "./auditor/personJudge.ts";
export { programJudge } from "./auditor/programJudge.ts";
export type { Assignment, AuditNode, BlockReader } from "./audits/assignment.ts";
export { createAuditNode } from "./audits/createAuditNode.ts";
export { createPublicFetch, type PublicFetchParameters } from "./net/publicFetch.ts";
export { type Fetch, ServiceError } from "./requestService.ts";
export { type KeyValueStore, memoryStore } from "./store/keyValueStore.ts";
