import { agentRow, changeAgent, updateAgent } from "./agentRow.ts";
import { append, itemsOf } from "./lists.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";

/**
 * A party is who buys: an address, or all that ever were in one cluster with it, which count as one buyer, under the name of
 * one of them. Each has rows `<party>/<seller>` with its hires in the window, chained from the newest to the first, so that
 * parties can be merged; the smaller is always poured into the larger, which keeps merging cheap however clusters grow. What
 * each address bought by itself stands in the same rows, for when a party has to be split.
 */
export async function partyOf(step: Step, buyer: string): Promise<string> {
  const path: string[] = [];
  let party = buyer;
  for (;;) {
    const parent = (await step.store.get("party", party))?.parent ?? party;
    if (parent === party) break;
    path.push(party);
    party = parent;
  }
  for (const passed of path.slice(0, -1)) await step.store.update("party", passed, { parent: party });
  return party;
}

/** Counts a hire in the window. */
export function addCustom(step: Step, buyer: string, seller: string): Promise<void> {
  return countCustom(step, buyer, seller, 1);
}

/** A hire leaves the window. */
export function removeCustom(step: Step, buyer: string, seller: string): Promise<void> {
  return countCustom(step, buyer, seller, -1);
}

/** Makes two addresses one buyer. */
export async function joinParties(step: Step, a: string, b: string): Promise<void> {
  const parties = [await partyOf(step, a), await partyOf(step, b)] as const;
  if (parties[0] === parties[1]) return;
  const lengths = [
    (await agentRow(step, parties[0])).sellers,
    (await agentRow(step, parties[1])).sellers,
  ] as const;
  const [small, large] = lengths[0] < lengths[1] ? parties : ([parties[1], parties[0]] as const);
  if ((await step.store.get("party", small)) === null) {
    await step.store.insert("party", { id: small, parent: large });
  } else {
    await step.store.update("party", small, { parent: large });
  }
  if ((await step.store.get("party", large)) === null) {
    await step.store.insert("party", { id: large, parent: large });
  }
  await append(step.store, pouredInto(large), small);
  for (const { seller, held } of await customsOf(step, small)) {
    if (held === 0) continue;
    await changeCustom(step, small, seller, { own: 0, held: -held });
    await changeCustom(step, large, seller, { own: 0, held });
  }
}

/**
 * Makes the parties of these addresses anew: every address by itself, then joined with those that it still shares one of
 * `groupsOf` with.
 */
export async function splitParties(
  step: Step,
  addresses: Iterable<string>,
  groupsOf: (address: string) => Promise<string[]>,
): Promise<void> {
  const members = new Set<string>();
  for (const address of addresses) await collectPoured(step, await partyOf(step, address), members);
  for (const member of members) {
    for (const { seller, own, held } of await customsOf(step, member)) {
      if (own !== held) await changeCustom(step, member, seller, { own: 0, held: own - held });
    }
    if ((await step.store.get("party", member)) !== null) {
      await step.store.update("party", member, { parent: member });
    }
  }
  const firstOf = new Map<string, string>();
  for (const member of members) {
    for (const group of await groupsOf(member)) {
      const first = firstOf.get(group);
      if (first === undefined) firstOf.set(group, member);
      else await joinParties(step, first, member);
    }
  }
}

async function collectPoured(step: Step, party: string, into: Set<string>): Promise<void> {
  if (into.has(party)) return;
  into.add(party);
  for await (const poured of itemsOf(step.store, pouredInto(party))) await collectPoured(step, poured, into);
}

async function countCustom(step: Step, buyer: string, seller: string, by: 1 | -1): Promise<void> {
  const party = await partyOf(step, buyer);
  if (party === buyer) return changeCustom(step, buyer, seller, { own: by, held: by });
  await changeCustom(step, buyer, seller, { own: by, held: 0 });
  await changeCustom(step, party, seller, { own: 0, held: by });
}

/** The list of parties that were ever poured into one. */
function pouredInto(party: string): string {
  return `poured/${party}`;
}

async function changeCustom(
  step: Step,
  address: string,
  seller: string,
  by: { own: number; held: number },
): Promise<void> {
  const id = `${address}/${seller}`;
  const row = await step.store.get("custom", id);
  const before = row?.held ?? 0;
  const after = before + by.held;
  const own = (row?.own ?? 0) + by.own;
  if (row === null) {
    const { sellers, lastSeller } = await agentRow(step, address);
    await step.store.insert("custom", { id, own, held: after, before: lastSeller });
    await changeAgent(step, address, { sellers: sellers + 1, lastSeller: seller });
  } else {
    await step.store.update("custom", id, { own, held: after });
  }
  const change = Number(after > 0) - Number(before > 0);
  if (change === 0) return;
  const { distinctBuyers } = await agentRow(step, seller);
  await updateAgent(step, seller, { distinctBuyers: distinctBuyers + change });
}

/** What an address, or the party of its name, ever bought, by seller. */
async function customsOf(step: Step, address: string): Promise<({ seller: string } & Row<"custom">)[]> {
  const customs: ({ seller: string } & Row<"custom">)[] = [];
  let seller = (await agentRow(step, address)).lastSeller;
  while (seller !== null) {
    const row = await step.store.get("custom", `${address}/${seller}`);
    if (row === null) throw new Error(`${address} lacks what it bought from ${seller}.`);
    customs.push({ seller, ...row });
    seller = row.before;
  }
  return customs;
}
