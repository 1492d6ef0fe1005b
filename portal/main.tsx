import { render } from "preact";
import { Portal } from "./shell/Portal.tsx";

const app = document.getElementById("app");
if (app !== null) render(<Portal />, app);
