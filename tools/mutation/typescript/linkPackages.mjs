// Run by Stryker in the folder of a changed copy: gives it a node_modules of its own, in which the packages of the workspace are those of
// the copy. One link to the whole node_modules would lead every import by name back to the unchanged sources.
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";

const [installed] = process.argv.slice(2);
const own = path.resolve("node_modules");
mkdirSync(own, { recursive: true });
for (const name of readdirSync(installed)) {
  const [, room] = /^tallystick-(\w+)$/.exec(name) ?? [];
  const target = room === undefined ? path.join(installed, name) : path.resolve("packages", room);
  symlinkSync(target, path.join(own, name));
}
