import { measureFamilies } from "./measureFamilies.ts";

// A separate process, so that nothing else is in the profile. Argument: FILE.
const [file = "-"] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measureFamilies(file)));
