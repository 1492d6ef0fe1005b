import type { ComponentChildren } from "preact";

/**
 * A button that cannot be pressed while `isOff`. It keeps the focus of the keyboard meanwhile, which a disabled button loses.
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
