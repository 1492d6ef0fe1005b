import type { ApplyContext } from "../applyContext.ts";
import type { RecordEvent } from "../events.ts";
import { readCanary } from "./canaries.ts";
import { readAuditor, readVerdict } from "./readAuditRecord.ts";
import type { Reading } from "./reading.ts";
import { readActuation, readHistory, readJudge, readMode } from "./readOperatorRecord.ts";

/** How each type of record of audits is read. */
export const auditReaders: ReadonlyMap<string, (context: ApplyContext, event: RecordEvent) => Reading> =
  new Map(
    Object.entries({
      auditor: readAuditor,
      audit_verdict: readVerdict,
      audit_judge: readJudge,
      audit_actuation: readActuation,
      audit_mode: readMode,
      audit_history: readHistory,
      audit_canary: readCanary,
    }),
  );
