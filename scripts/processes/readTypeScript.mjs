// What a Node that is to run TypeScript imports first. Node 24 and later read it themselves, in a third of the time that
// tsx takes. They read no `.tsx`, which only the portal has, and esbuild makes that.
if (process.features.typescript !== "strip" || Number.parseInt(process.versions.node, 10) < 24) {
  await import("tsx");
}
