import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./Icon.tsx";

const ICONS: { [kind: string]: IconName } = { good: "done", bad: "cross", warn: "warn", info: "info" };

/** A message that a reader should not miss. `isLive`: the message appears later, so screen readers announce it. */
export function Notice(props: {
  kind: "good" | "bad" | "warn" | "info";
  title: string;
  children?: ComponentChildren;
  isLive?: boolean;
}) {
  const { kind, title, children, isLive = false } = props;
  return (
    <div class={`notice ${kind}`} {...(isLive && { role: kind === "bad" ? "alert" : "status" })}>
      <Icon name={ICONS[kind] ?? "info"} size={18} />
      <div>
        <strong>{title}</strong>
        {children !== undefined && <div>{children}</div>}
      </div>
    </div>
  );
}
