import type { ComponentChildren } from "preact";

/**
 * A button that cannot be pressed while `isOff`. A disabled button would lose the keyboard focus; this button keeps it.
 *
 * @param onPress left out for a button that submits its form
 */
export function ActionButton(props: {
  isOff: boolean;
  onPress?: () => void;
  kind?: "main";
  children: ComponentChildren;
}) {
  const { isOff, onPress, kind, children } = props;
  return (
    <button
      type={onPress === undefined ? "submit" : "button"}
      class={kind === undefined ? "button" : `button ${kind}`}
      aria-disabled={isOff}
      onClick={(event) => {
        // This also stops a form that is submitted by Enter in one of its fields.
        if (isOff) event.preventDefault();
        else onPress?.();
      }}
    >
      {children}
    </button>
  );
}
