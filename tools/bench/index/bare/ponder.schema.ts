import { onchainTable } from "ponder";

export const transfer = onchainTable("transfer", (p) => ({
  id: p.text().primaryKey(),
  block: p.bigint().notNull(),
  time: p.bigint().notNull(),
  from: p.hex().notNull(),
  to: p.hex().notNull(),
  value: p.bigint().notNull(),
  tx: p.hex().notNull(),
}));
