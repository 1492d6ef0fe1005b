import { Hono } from "hono";

// Ponder requires an API. Its own routes (/ready, /status, /metrics) are enough.
export default new Hono();
