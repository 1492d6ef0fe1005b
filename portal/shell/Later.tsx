import { type ComponentType, createElement } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Notice } from "../design/Notice.tsx";
import { Waiting } from "../design/States.tsx";
import { type LoadPart, loadedPart, loadPart } from "./lateParts.ts";

type State<Props> = { page: ComponentType<Props> | null; error: string };

/**
 * A page that is loaded later. If the portal was published again meanwhile, its old files are gone, and the
 * page says so.
 */
export function Later<Props extends object>({ load, ...props }: { load: LoadPart<Props> } & Props) {
  const [{ page, error }, set] = useState<State<Props>>(() => ({ page: loadedPart(load), error: "" }));
  useEffect(() => {
    let isOver = false;
    loadPart(load).then(
      (page) => !isOver && set({ page, error: "" }),
      (cause: unknown) => !isOver && set({ page: null, error: String(cause) }),
    );
    return () => {
      isOver = true;
    };
  }, [load]);
  if (error !== "") {
    return (
      <Notice kind="bad" title="This page could not be loaded" isLive>
        Reload it: the node may have a new version. {error}
      </Notice>
    );
  }
  return page === null ? <Waiting what="the page" /> : createElement(page, props as unknown as Props);
}
