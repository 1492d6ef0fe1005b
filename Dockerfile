# One image for every process of a node: settlement, indexer, API replica. compose.yaml has the command of each.
FROM node:24-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# npm needs only the manifests of the workspace's packages. Their sources come later, so that a change of code does not install again.
COPY packages/capabilities/package.json ./packages/capabilities/
COPY packages/derive/package.json ./packages/derive/
COPY packages/mcp/package.json ./packages/mcp/
COPY packages/protocol/package.json ./packages/protocol/
COPY packages/runtime/package.json ./packages/runtime/
COPY packages/sdk/package.json ./packages/sdk/
RUN npm ci --omit=dev && npm cache clean --force

# The pages that the node serves at /.
FROM packages AS portal
COPY packages ./packages
COPY portal ./portal
RUN node portal/build.mjs

FROM node:24-trixie-slim
ENV NODE_ENV=production PONDER_TELEMETRY_DISABLED=1 PONDER_CACHE_BYTES=402653184
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json tsconfig.json ponder.config.ts ./
COPY packages ./packages
COPY services ./services
COPY indexer ./indexer
# The command line, for an operator's work on the node's volumes and database (docs/operators.md).
COPY scripts ./scripts
COPY --from=portal /app/portal/dist ./portal/dist
# Served at /docs/.
COPY docs ./docs
# The folders that the processes write. Everything else belongs to root, and the processes are not root.
RUN mkdir -p /data/ledger /data/words /data/auditing /data/dispatch /data/mirror /data/notifying /data/prober /data/witness indexer/.ponder && chown -R node:node /data indexer/.ponder
USER node
EXPOSE 42069 42070
CMD ["node", "-e", "console.error('Name a process: see compose.yaml'); process.exit(64)"]
