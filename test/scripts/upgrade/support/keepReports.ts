import type { UpgradeReport } from "../../../../scripts/upgrade/upgradeReport.ts";

/** Stores what the last run of an upgrade reported, and lets a test act at each report. */
export function keepReports() {
  const told: { step: string; fields: object }[] = [];
  const report = (onTell: (step: string) => void = () => {}): UpgradeReport => {
    told.length = 0;
    return {
      note: (_text, fields) => void told.push({ step: "note", fields }),
      step: async (step, work) => {
        const { fields, value } = await work((_text, fields) => {
          told.push({ step, fields });
          onTell(step);
        });
        told.push({ step, fields });
        return value;
      },
    };
  };
  return { told, report };
}
