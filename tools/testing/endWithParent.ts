// Loaded first by the test runners, so that they end when the run that started them is killed.
import { watchLifeline } from "../../scripts/cli/lifeline.ts";

watchLifeline();
