/** The bad kinds of hosts. Of a hundred hosts seven are bad, one of each kind; the others answer. */
const BAD = ["hangs", "drips", "endless", "redirects", "fails", "breaks", "lies"] as const;

export type Kind = (typeof BAD)[number] | "answers";

/** The address of the nth host, in 127.64/10. */
export function addressOf(n: number): string {
  return `127.${64 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
}

/** What the host at an address does. */
export function kindOf(address: string): Kind {
  const [, a = 0, b = 0, c = 0] = address.split(".").map(Number);
  return BAD[(((a - 64) << 16) | (b << 8) | c) % 100] ?? "answers";
}
