/** Judge audits by models of language, through the AI SDK (`ai`, which is an optional peer). */
export type { JudgingModel } from "./modelJudge/askModel.ts";
export type { Opinion } from "./modelJudge/modelAnswer.ts";
export { type ModelJudgeParameters, modelJudge } from "./modelJudge/modelJudge.ts";
export { rubricOf } from "./modelJudge/rubrics.ts";
