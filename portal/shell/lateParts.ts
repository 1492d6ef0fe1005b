import type { ComponentType } from "preact";

/** Loads a part of the portal that the first script does not contain. */
export type LoadPart<Props extends object> = () => Promise<ComponentType<Props>>;

const parts = new Map<unknown, unknown>();

/** A part that was loaded before; null if it was not. */
export function loadedPart<Props extends object>(load: LoadPart<Props>): ComponentType<Props> | null {
  return (parts.get(load) as ComponentType<Props> | undefined) ?? null;
}

/** Loads a part, and keeps it, so that it is drawn at once the next time. */
export async function loadPart<Props extends object>(load: LoadPart<Props>): Promise<ComponentType<Props>> {
  const part = await load();
  parts.set(load, part);
  return part;
}
