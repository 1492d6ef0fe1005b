# One image for every process of a node: settlement, indexer, API replica. What each is started with is in compose.yaml.
FROM node:24-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force

FROM node:24-trixie-slim
ENV NODE_ENV=production PONDER_TELEMETRY_DISABLED=1 PONDER_CACHE_BYTES=402653184
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json tsconfig.json ponder.config.ts ./
COPY protocol ./protocol
COPY runtime ./runtime
COPY sdk ./sdk
COPY settlement ./settlement
COPY indexer ./indexer
# Served at /docs/.
COPY docs ./docs
# What Ponder and settlement write. Everything else stays root's, and the processes are not root.
RUN mkdir -p /data/ledger /data/words indexer/.ponder && chown -R node:node /data indexer/.ponder
USER node
EXPOSE 42069 42070
CMD ["node", "-e", "console.error('Name a process: see compose.yaml'); process.exit(64)"]
