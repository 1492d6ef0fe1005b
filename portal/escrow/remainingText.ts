/** Seconds as a clock shows them: `2 d 3 h`, `3 h 04 min`, `4 min 09 s`. */
export function remainingText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [days, hours, minutes] = [whole / 86_400, (whole / 3_600) % 24, (whole / 60) % 60].map(
    Math.floor,
  ) as [number, number, number];
  const two = (count: number): string => String(count).padStart(2, "0");
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${two(minutes)} min`;
  return `${minutes} min ${two(whole % 60)} s`;
}
