// This file is loaded into a program before it starts (`--import`). It ends the program when the process that
// started it is gone.
import { watchLifeline } from "../cli/lifeline.ts";

watchLifeline();
