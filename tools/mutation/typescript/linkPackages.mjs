// Stryker runs this in the folder of a changed copy. It gives the copy its own node_modules, whose workspace
// packages are the copy's. With a link to the whole node_modules, every import by name would read the
// unchanged sources.
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
