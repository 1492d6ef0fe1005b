/** A revision of a capability's verification function: `v0` is permissive, each later one stricter (SHP §8.2). */
export type VerificationVersion = `v${number}`;

/**
 * A version's name and the time of its publication, in unix seconds. It applies until 90 days after the next version.
 */
export type PublishedVersion = { version: VerificationVersion; publishedAt: number };

/** How long a version may still be advertised after the next one was published (SHP §8.2): 90 days, in seconds. */
export const DEPRECATION_WINDOW_SECONDS = 90 * 86_400;

/**
 * The status of a version at a time. Buyers should not hire for a `retired` version, and nobody may hire for an
 * `unknown` one.
 */
export type VersionStatus = "current" | "deprecated" | "retired" | "unknown";

/** The number in `v1`, undefined for anything else, such as `v01` or `1`. */
export function versionNumber(version: string): number | undefined {
  const match = /^v(0|[1-9]\d{0,5})$/.exec(version);
  return match ? Number(match[1]) : undefined;
}

type Versioned = { versions: readonly PublishedVersion[] };

/** The newest version, also if it is published later. */
export function newestVersion({ versions }: Versioned): VerificationVersion {
  return versions.at(-1)?.version ?? "v0";
}

/** The newest version that was published by `now` (unix seconds). */
export function currentVersion({ versions }: Versioned, now: number): VerificationVersion {
  const published = versions.filter(({ publishedAt }) => publishedAt <= now);
  return (published.at(-1) ?? versions[0])?.version ?? "v0";
}

/**
 * The status of `version` at `now` (unix seconds). Exactly 90 days after the next version it is still
 * deprecated.
 */
export function versionStatus({ versions }: Versioned, version: string, now: number): VersionStatus {
  const at = versions.findIndex((published) => published.version === version);
  const published = versions[at];
  if (published === undefined || published.publishedAt > now) return "unknown";
  const next = versions[at + 1];
  if (next === undefined || next.publishedAt > now) return "current";
  return now <= next.publishedAt + DEPRECATION_WINDOW_SECONDS ? "deprecated" : "retired";
}

/** The `min_verification_version` a buyer should search with at `now`: the oldest that is not retired (SHP §8.2). */
export function minVerificationVersion(capability: Versioned, now: number): VerificationVersion {
  const first = capability.versions.find(
    ({ version }) => !["retired", "unknown"].includes(versionStatus(capability, version, now)),
  );
  return first?.version ?? currentVersion(capability, now);
}
