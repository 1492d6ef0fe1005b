/**
 * The records of a CSV text with a header (RFC 4180: quotes, doubled quotes, line ends within them), each with the
 * header's names as keys.
 *
 * @throws Error naming the record that has another number of fields than the header, or text that ends within quotes
 */
export function parseCsv(text: string): { [column: string]: string }[] {
  const [header = [], ...rows] = recordsOf(text);
  return rows.map((row, at) => {
    if (row.length !== header.length)
      throw new Error(`Record ${at + 1} has ${row.length} fields, not ${header.length}.`);
    return Object.fromEntries(header.map((name, n) => [name, row[n] as string]));
  });
}

function recordsOf(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  // A field with or without quotes, and its end.
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const match = field.exec(text);
    if (match === null) throw new Error(`Character ${at} is in no field: a quote is missing.`);
    const [, quoted, plain = "", end] = match;
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}
