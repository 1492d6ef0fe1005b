/** Judge audits with language models, through the AI SDK (`ai`, an optional peer dependency). */
export type { JudgingModel } from "./modelJudge/askModel.ts";
export type { Opinion } from "./modelJudge/modelAnswer.ts";
export { type ModelJudgeParameters, modelJudge } from "./modelJudge/modelJudge.ts";
export { rubricOf } from "./modelJudge/rubrics.ts";
