import { render } from "preact";
import { prepareFormats } from "./design/format.ts";
import { Portal } from "./shell/Portal.tsx";

const app = document.getElementById("app");
if (app !== null) {
  render(<Portal />, app);
  // The formats are made after the first frame, while the node answers.
  requestAnimationFrame(prepareFormats);
}
