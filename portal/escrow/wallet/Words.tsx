const ADDRESS = /(0x[0-9a-f]{40})/;

/** A sentence with addresses, which are set apart from its words. */
export function Words({ text }: { text: string }) {
  return (
    <>
      {text.split(ADDRESS).map((part, n) =>
        n % 2 === 1 ? (
          <code key={`${n} ${part}`} class="whole">
            {part}
          </code>
        ) : (
          part
        ),
      )}
    </>
  );
}
