// Loaded into a program before it starts (`--import`): it ends when the process that started it is gone.
import { watchLifeline } from "../cli/lifeline.ts";

watchLifeline();
