const SHORT_ADDRESS = /(0x[0-9a-f]{6}…[0-9a-f]{4})/;

/** A sentence whose shortened addresses stay on one line. */
export function Words({ text }: { text: string }) {
  return (
    <>
      {text.split(SHORT_ADDRESS).map((part, n) =>
        n % 2 === 1 ? (
          <span key={`${n} ${part}`} class="whole">
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </>
  );
}
