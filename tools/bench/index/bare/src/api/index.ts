import { Hono } from "hono";

// Ponder wants an API; its own routes (/ready, /status, /metrics) are enough.
export default new Hono();
