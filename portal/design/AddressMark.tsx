/** Number of notches of a stick. */
const NOTCHES = 8;

/**
 * Draws an address as a notched stick. It has eight notches, whose heights are digits of the address, and one
 * of twelve colours. The same address looks the same everywhere. It helps the eye but proves nothing,
 * because two addresses may look alike.
 */
export function AddressMark({ address, size = 22 }: { address: string; size?: number }) {
  const digits = Array.from(address.slice(2, 2 + NOTCHES * 2), (it) => Number.parseInt(it, 16) || 0);
  const hue = ((Number.parseInt(address.slice(-4), 16) || 0) % 12) * 30;
  // One path has all notches, because a page shows many sticks.
  const notches = Array.from({ length: NOTCHES }, (_, n) => {
    const [low = 0, high = 0] = [digits[2 * n], digits[2 * n + 1]];
    return `M${(3.6 + n * 2.4).toFixed(1)} ${11.2 - low * 0.5}V${12.8 + high * 0.5}`;
  });
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="5" fill={`hsl(${hue} 42% 32%)`} />
      <path d={notches.join("")} stroke={`hsl(${hue} 80% 88%)`} stroke-width="1.5" stroke-linecap="round" />
    </svg>
  );
}
