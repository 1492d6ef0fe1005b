import { measureFamilies } from "./measureFamilies.ts";

// A process of its own, so that nothing else is in the profile: FILE.
const [file = "-"] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measureFamilies(file)));
