import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import type {
  DeriveEvent,
  FeedbackGiven,
  IdentityEvent,
  IdentityTransferred,
} from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import type { EventLog } from "../eventLog.ts";

type KnownFeedback = {
  event: FeedbackGiven;
  n: number;
  revoked: boolean;
  standing: string;
  reason: string | null;
} & {
  agent: string | null;
  hire: string | null;
  /** Whether the feedback may still get a hire. */
  waits: boolean;
};
type Hire = Pick<Row<"hire">, "id" | "seller" | "buyer" | "time"> & { canary: boolean; turn: number };

const NOBODY = `0x${"0".repeat(40)}`;

/**
 * A second, slow and simple computation of identities and their feedback. At each event it reads all earlier events. It
 * takes hires and owners from the rows of the derivation, which other oracles check.
 */
class IdentityOracle {
  readonly #past: IdentityEvent[] = [];
  readonly #known: KnownFeedback[] = [];
  readonly #hires: Hire[] = [];
  /** The wallets whose family as a seller is known, and those whose family of the money that they pay with is known. */
  readonly #sold = new Set<string>();
  readonly #paid = new Set<string>();
  #turns = 0;
  readonly store: MemoryStore;
  readonly log: EventLog;

  constructor(store: MemoryStore, log: EventLog) {
    this.store = store;
    this.log = log;
  }

  /** Runs after the derivation has applied an event. */
  read(event: DeriveEvent): void {
    for (const row of this.store.rows("hire").values()) {
      const known = this.#hires.find((it) => it.id === row.id);
      if (known === undefined) {
        this.#know(row);
        this.#free({ ...row, canary: false, turn: 0 }, true);
      } else if (row.isCanary && !known.canary) this.#withdraw(known);
    }
    if (!/^(identity|feedback|registry)\./.test(event.kind)) return;
    const it = event as IdentityEvent;
    const isRead = this.#isRead(it);
    if (it.kind === "registry.upgraded" || isRead) this.#past.push(it);
    if (!isRead) return;
    if (it.kind === "feedback.given") this.#give(it);
    if (it.kind === "feedback.revoked") this.#revoke(`${it.identity}/${it.client}/${it.index}`);
  }

  /** The values to compare. */
  tell() {
    const identities = this.#minted().map(({ identity }) => identity);
    identities.sort((a, b) => Number(a) - Number(b));
    return {
      identities: Object.fromEntries(
        identities.map((id) => [id, { owner: this.#owner(id), wallet: this.#wallet(id) }]),
      ),
      links: identities.flatMap((id) => this.#links(id)),
      feedback: Object.fromEntries(
        this.#known.map((it) => [
          idOf(it.event),
          { agent: it.agent, standing: it.standing, reason: it.reason, hire: it.hire, revoked: it.revoked },
        ]),
      ),
    };
  }

  #isRead(event: IdentityEvent): boolean {
    const registries = this.log.events[0]?.kind === "params" ? this.log.events[0].registries : undefined;
    if (registries === undefined || event.kind === "registry.upgraded") return false;
    const upgrades = (address: string) =>
      this.#past.filter((it) => it.kind === "registry.upgraded" && it.registry === address);
    const isListed = (it: IdentityEvent) =>
      it.kind === "registry.upgraded" && registries.implementations.includes(it.implementation);
    for (const address of [registries.identity, registries.reputation]) {
      const [, ...later] = upgrades(address).slice(Math.max(0, upgrades(address).findIndex(isListed)));
      if (upgrades(address).some(isListed) && later.some((it) => !isListed(it))) return false;
    }
    const own = event.kind.startsWith("identity.") ? registries.identity : registries.reputation;
    return event.registry === own && upgrades(own).some(isListed);
  }

  #minted(): IdentityTransferred[] {
    const mints = this.#past.filter((it): it is IdentityTransferred => it.kind === "identity.transferred");
    return mints.filter(
      (it, n) =>
        it.from === NOBODY &&
        !mints.slice(0, n).some((one) => one.identity === it.identity && one.from === NOBODY),
    );
  }

  /** All events of an identity since its mint, in order. */
  #historyOf(id: string): IdentityEvent[] {
    const mint = this.#minted().find((it) => it.identity === id);
    if (mint === undefined) return [];
    return this.#past.slice(this.#past.indexOf(mint)).filter((it) => "identity" in it && it.identity === id);
  }

  #owners(id: string): string[] {
    return this.#historyOf(id).flatMap((it) => (it.kind === "identity.transferred" ? [it.to] : []));
  }

  #owner(id: string): string | null {
    return this.#owners(id).at(-1) ?? null;
  }

  /** Every wallet of an identity, with the event that set the wallet and the event that ended it. */
  #wallets(id: string): { wallet: string; from: IdentityEvent; until: IdentityEvent | null }[] {
    const history = this.#historyOf(id);
    const [mint] = history;
    const found: { wallet: string; from: IdentityEvent; until: IdentityEvent | null }[] = [];
    for (const [n, it] of history.entries()) {
      const now = found.at(-1)?.until === null ? found.at(-1) : undefined;
      let next = now?.wallet ?? null;
      if (it.kind === "identity.transferred") next = null;
      if (it.kind === "identity.metadataSet" && it.key === "agentWallet") {
        const hasMoved = history
          .slice(1, n)
          .some((one) => one.kind === "identity.transferred" && one.tx === mint?.tx);
        const isAddress =
          typeof it.value === "string" && /^0x[0-9a-f]{40}$/.test(it.value) && it.value !== NOBODY;
        next =
          isAddress && !(it.tx === mint?.tx && hasMoved) ? (it.value as string) : isAddress ? next : null;
      }
      if (next === (now?.wallet ?? null)) continue;
      if (now !== undefined) now.until = it;
      if (next !== null) found.push({ wallet: next, from: it, until: null });
    }
    return found;
  }

  #wallet(id: string): string | null {
    const last = this.#wallets(id).at(-1);
    return last?.until === null ? last.wallet : null;
  }

  #links(id: string) {
    const order = (it: IdentityEvent) => this.#past.indexOf(it);
    return this.#wallets(id).map(({ wallet, from, until }) => {
      const during = this.#known.filter(
        ({ event }) =>
          event.identity === id &&
          order(event) > order(from) &&
          (until === null || order(event) < order(until)),
      );
      const left = during.filter((it) => !it.revoked);
      return {
        wallet,
        from: from.log,
        until: until?.log ?? null,
        feedback: during.length,
        backed: left.filter((it) => it.standing === "backed").length,
        self: left.filter((it) => it.standing === "self").length,
        revoked: during.length - left.length,
      };
    });
  }

  #give(event: FeedbackGiven): void {
    const { identity: id, client } = event;
    if (this.#historyOf(id).length === 0 || this.#known.some((it) => idOf(it.event) === idOf(event))) return;
    const agent = this.#wallet(id);
    const isFormer = [...this.#owners(id), ...this.#wallets(id).map((it) => it.wallet)].includes(client);
    const feedback: KnownFeedback = {
      ...{ event, n: this.#known.length, agent, revoked: false, hire: null, waits: false },
      ...{ standing: "unproven", reason: null },
    };
    this.#known.push(feedback);
    if (client === agent) feedback.reason = "agent";
    else if (client === this.#owner(id)) feedback.reason = "owner";
    else if (isFormer) feedback.reason = "former";
    else if (agent !== null) feedback.reason = this.#relation(agent, client);
    if (feedback.reason !== null) feedback.standing = "self";
    else this.#seek(feedback);
  }

  /**
   * Gives the feedback the first unused hire of its agent and client, if that hire was not paid later than the feedback.
   * Otherwise the feedback waits, if fewer than a hundred wait for these two.
   */
  #seek(feedback: KnownFeedback): void {
    if (feedback.agent === null) return;
    const [hire] = this.#freeHires(feedback.agent, feedback.event.client);
    if (hire !== undefined && hire.time <= feedback.event.time) {
      Object.assign(feedback, { standing: "backed", hire: hire.id });
      return;
    }
    feedback.waits = this.#waiting(feedback.agent, feedback.event.client).length < 100;
  }

  #freeHires(agent: string, client: string): Hire[] {
    return this.#hires
      .filter((it) => it.seller === agent && it.buyer === client && !it.canary)
      .filter((it) => !this.#known.some(({ hire }) => hire === it.id))
      .sort((a, b) => a.turn - b.turn);
  }

  #waiting(agent: string, client: string): KnownFeedback[] {
    return this.#known.filter((it) => it.waits && it.agent === agent && it.event.client === client);
  }

  #free(hire: Hire, isNew: boolean): void {
    hire.turn = this.#turns++;
    if (isNew) this.#hires.push(hire);
    const waiting = this.#waiting(hire.seller, hire.buyer).filter(({ event }) => event.time >= hire.time);
    const [oldest] = waiting;
    if (oldest === undefined) return;
    const reason = this.#relation(hire.seller, hire.buyer);
    if (reason === null) Object.assign(oldest, { standing: "backed", hire: hire.id, waits: false });
    else for (const it of waiting) Object.assign(it, { standing: "self", reason, waits: false });
  }

  #withdraw(hire: Hire): void {
    hire.canary = true;
    const backed = this.#known.find((it) => it.hire === hire.id);
    if (backed === undefined) return;
    Object.assign(backed, { standing: "unproven", hire: null });
    this.#seek(backed);
  }

  #revoke(id: string): void {
    const feedback = this.#known.find((it) => idOf(it.event) === id);
    if (feedback === undefined || feedback.revoked) return;
    const hire = this.#hires.find((it) => it.id === feedback.hire);
    Object.assign(feedback, { revoked: true, waits: false, hire: null });
    if (feedback.standing === "self") return;
    feedback.standing = "unproven";
    if (hire !== undefined) this.#free(hire, false);
  }

  /** Knows the families of both sides of a new hire, and of all wallets before them in a family other than `deep`. */
  #know({ seller, buyer }: Pick<Hire, "seller" | "buyer">): void {
    const [registered, members] = [this.store.rows("registeredMember"), this.store.rows("familyMember")];
    (registered.has(seller) ? this.#sold : this.#paid).add(seller);
    this.#paid.add(buyer);
    for (const side of [registered.get(seller) ?? members.get(seller), members.get(buyer)])
      for (let it = side; it !== undefined && it.family !== "deep"; it = members.get(it.parent ?? ""))
        if (it.parent !== null) this.#paid.add(it.parent);
  }

  #relation(a: string, b: string): string | null {
    const { store } = this;
    const clusters = (address: string) => {
      const { ownershipCluster = null, fingerprintCluster = null } = store.rows("agent").get(address) ?? {};
      return [ownershipCluster, fingerprintCluster].map((id) => {
        let row = id === null ? undefined : store.rows("cluster").get(id);
        while (row !== undefined && row.parent !== row.id) row = store.rows("cluster").get(row.parent);
        return row;
      });
    };
    const group = (address: string): string => {
      const parent = store.rows("buyerGroup").get(address)?.parent ?? address;
      return parent === address ? address : group(parent);
    };
    const [ofA, ofB] = [clusters(a), clusters(b)];
    if (ofA.some((it, n) => it !== undefined && it.id === ofB[n]?.id && it.size > 1)) return "cluster";
    if (group(a) === group(b)) return "buyers";
    const paying = (it: string) => (this.#paid.has(it) ? store.rows("familyMember").get(it) : undefined);
    const own = (it: string) =>
      (this.#sold.has(it) ? store.rows("registeredMember").get(it) : paying(it))?.family;
    const family = own(a);
    if (family === undefined || family === "deep") return null;
    const [before, member] = [[] as string[], paying(b)];
    for (let next = member?.parent; next != null; next = store.rows("familyMember").get(next)?.parent)
      before.push(next);
    const isBehind = member !== undefined && member.family !== "deep" && before.includes(a);
    return isBehind || [own(b), member?.family].includes(family) ? "family" : null;
  }
}

/** Compares the derived identities with the oracle. */
export async function expectIdentities(log: EventLog): Promise<MemoryStore> {
  const store = new MemoryStore();
  const oracle = new IdentityOracle(store, log);
  for (const event of log.events) {
    apply(store, event, { trustSignatures: true });
    oracle.read(event);
  }
  const derived = {
    identities: Object.fromEntries(
      [...store.rows("identity").values()].map(({ id, owner, wallet }) => [id, { owner, wallet }]),
    ),
    links: [...store.rows("identityLink").values()]
      .sort((a, b) => order(a.id) - order(b.id))
      .map(({ wallet, fromLog, untilLog, feedback, backed, self, revoked }) => ({
        ...{ wallet, from: fromLog, until: untilLog, feedback, backed, self, revoked },
      })),
    feedback: Object.fromEntries(
      [...store.rows("feedback").values()].map((it) => [
        it.id,
        {
          agent: it.agent,
          standing: it.standing,
          reason: it.selfReason,
          hire: it.hire,
          revoked: it.isRevoked,
        },
      ]),
    ),
  };
  expect(derived).to.deep.equal(oracle.tell());
  return store;
}

function order(link: string): number {
  const [identity, n] = link.split("/").map(Number);
  return (identity ?? 0) * 10_000 + (n ?? 0);
}

function idOf({ identity, client, index }: FeedbackGiven): string {
  return `${identity}/${client}/${index}`;
}
