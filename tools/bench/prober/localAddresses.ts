/**
 * The bad kinds of hosts. Of a hundred hosts seven are bad, one of each kind. One more fails twice and one three times.
 * The others answer.
 */
const BAD = ["hangs", "drips", "endless", "redirects", "fails", "breaks", "lies", "twice", "thrice"] as const;

export type Kind = (typeof BAD)[number] | "answers";

/** The slots of an hour in which hosts of these kinds fail. Two slots in a row are no downtime; three are. */
const FAILING: { [kind in Kind]?: readonly number[] } = { twice: [2, 3], thrice: [6, 7, 8] };

/** Whether a host gives terms in a slot of the hour. */
export function isUp(kind: Kind, slot: number): boolean {
  if (kind === "answers" || kind === "lies") return true;
  return FAILING[kind] !== undefined && !FAILING[kind].includes(slot);
}

/** The address of the nth host, in 127.64/10. */
export function addressOf(n: number): string {
  return `127.${64 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
}

/** What the host at an address does. */
export function kindOf(address: string): Kind {
  const [, a = 0, b = 0, c = 0] = address.split(".").map(Number);
  return BAD[(((a - 64) << 16) | (b << 8) | c) % 100] ?? "answers";
}
