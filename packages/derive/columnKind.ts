/** The value types of the kinds of columns. */
export type ColumnValues = {
  text: string;
  "text?": string | null;
  number: number;
  "number?": number | null;
  bigint: bigint;
  "bigint?": bigint | null;
  boolean: boolean;
  "boolean?": boolean | null;
};

export type ColumnKind = keyof ColumnValues;
