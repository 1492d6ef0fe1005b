/** Line drawings on a grid of 16 by 16. */
const PATHS = {
  copy: "M6 6h7v7H6zM3 10V3h7",
  done: "m3 8.5 3.2 3.2L13 5",
  cross: "m4 4 8 8m0-8-8 8",
  warn: "M8 2.5 14.2 13H1.8zM8 6.5v3M8 11.2v.1",
  info: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8M8 7.3v3.6M8 5v.1",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9m3.3 7.8 3.4 3.4",
  up: "m4 10 4-4 4 4",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  shield: "M8 1.8 13.4 4v4c0 3.2-2.2 5.3-5.4 6.3C4.8 13.3 2.6 11.2 2.6 8V4zM5.6 8l1.8 1.8 3.2-3.5",
  file: "M4 1.8h5l3.5 3.5v8.9H4zM9 1.8v3.7h3.5",
  download: "M8 2v8m-3-3 3 3 3-3M3 13.5h10",
  again: "M13 8a5 5 0 1 1-1.6-3.7M13 2v2.7h-2.7",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative picture next to words. Screen readers skip it. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
