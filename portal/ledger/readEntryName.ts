/** A position from 0, or 64 hex digits; undefined when it is neither. */
export function readEntryName(text: string): number | string | undefined {
  const word = text.trim().toLowerCase().replaceAll(",", "");
  if (/^\d{1,15}$/.test(word)) return Number(word);
  const hash = word.replace(/^0x/, "");
  return /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
}
