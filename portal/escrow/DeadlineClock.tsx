import { useEffect, useState } from "preact/hooks";
import { Time } from "../design/Time.tsx";
import { remainingText } from "./remainingText.ts";

/**
 * Counts down to a deadline. Times are unix seconds.
 * @param props.from the time of the deposit, for the progress bar; null if it is unknown, and then there is no bar
 * @param props.ahead how many seconds the chain's clock is ahead of the reader's; the contract uses the chain's clock
 */
export function DeadlineClock(props: {
  deadline: number;
  from: number | null;
  ahead: number;
  isHeld: boolean;
}) {
  const { deadline, from, ahead, isHeld } = props;
  const now = useSeconds(isHeld) + ahead;
  const left = deadline - now;
  const share =
    from === null || deadline <= from ? null : Math.min(Math.max((now - from) / (deadline - from), 0), 1);
  return (
    <div class="clock">
      <p class="left" role="timer">
        {left > 0 ? (
          <>
            <strong>{remainingText(left)}</strong> to the deadline
          </>
        ) : (
          <strong>The deadline has passed</strong>
        )}
      </p>
      {share !== null && (
        <svg
          class={left > 0 ? "run" : "run over"}
          viewBox="0 0 100 1"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect class="ground" width="100" height="1" />
          <rect class="done" width={share * 100} height="1" />
        </svg>
      )}
      <p class="soft small">
        <Time at={deadline} isDate />, by the chain's clock.{" "}
        {isHeld &&
          (left > 0 ? "From then on anyone can send the money back." : "Anyone can send the money back now.")}
      </p>
    </div>
  );
}

/** The reader's time in unix seconds. While `isRunning`, it is read again every second. */
export function useSeconds(isRunning: boolean): number {
  const [now, setNow] = useState(() => Date.now() / 1_000);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now() / 1_000), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
