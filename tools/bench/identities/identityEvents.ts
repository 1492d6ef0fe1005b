import type { DeriveEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { defineParams, type Params } from "tallystick-protocol/records/params";
import { seededRandom } from "tallystick-runtime/seededRandom";

export type IdentitySize = { identities: number; feedback: number };

const START = 1_767_225_600;
const TOKEN = address("70", 0);
const [IDENTITY, REPUTATION, CODE] = [address("1d", 0), address("4e", 0), address("20", 0)];
const LEDGER: Hex = `0x${"1e".repeat(32)}`;
const NOBODY = address("00", 0);
const CAPABILITY = "text.translate";

/** The number of events before each tick. */
const EVENTS_OF_TICK = 1_000;
/** The number of agents that sell. They own the first identities. */
const SELLERS = 1_000;

/**
 * The events of two registries that are as full as those on Base. They have the worst case for a node: a tenth of all feedback is
 * about one identity, and another tenth is from one client. Some identities are sold, some feedback is revoked or
 * answered, and a fiftieth of the feedback has a paid hire before it.
 */
export function* identityEvents({ identities, feedback }: IdentitySize): Generator<DeriveEvent> {
  const random = seededRandom(8_004);
  const below = (count: number) => Math.floor(random() * count);
  let [block, serial, given] = [1, 0, 0];
  const hash = (): Hex => `0x${(++serial).toString(16).padStart(64, "a")}`;
  const at = (fields: object) =>
    ({ block: ++block, time: START + 2 * block, log: 0, tx: hash(), ...fields }) as unknown as DeriveEvent;
  const registry = (kind: string, fields: object) => at({ kind, registry: IDENTITY, ...fields });
  const reputation = (kind: string, fields: object) => at({ kind, registry: REPUTATION, ...fields });
  const record = (type: string, signer: Address, body: RecordBody) =>
    at({
      kind: "record",
      ledger: LEDGER,
      seq: ++serial,
      hash: hash().slice(2),
      type,
      body,
      signer,
      signature: "0x01",
    });

  const params = defineParams({ tier2MinSuccesses: 1, tier2MinCapabilities: 1 }) as Params;
  const registries = { identity: IDENTITY, reputation: REPUTATION, implementations: [CODE] };
  yield at({ kind: "params", params, registries });
  yield at({ kind: "registry.upgraded", registry: IDENTITY, implementation: CODE });
  yield at({ kind: "registry.upgraded", registry: REPUTATION, implementation: CODE });

  function* all(): Generator<DeriveEvent> {
    for (let n = 0; n < identities; n++) {
      const identity = String(n);
      const owner = address("a9", n);
      yield registry("identity.transferred", { identity, from: NOBODY, to: owner });
      yield registry("identity.registered", { identity, owner, uri: `https://agent.example/${n}.json` });
      yield registry("identity.metadataSet", { identity, key: "agentWallet", value: owner });
      if (n < SELLERS) yield record("listing", owner, listing(owner));
      for (const due = Math.floor(((n + 1) * feedback) / identities); given < due; given++) yield* say(n);
      if (n % 100 === 99) {
        const to = address("b0", n);
        yield registry("identity.metadataSet", { identity, key: "agentWallet", value: "0x" });
        yield registry("identity.transferred", { identity, from: owner, to });
        yield registry("identity.metadataSet", { identity, key: "agentWallet", value: to });
      }
    }
  }

  function* say(known: number): Generator<DeriveEvent> {
    const subject = given % 10 === 0 ? 0 : below(known + 1);
    const client = given % 10 === 1 ? address("c1", 0) : address("c1", 1 + below(identities));
    const identity = String(subject);
    if (given % 50 === 0 && subject < SELLERS) yield* hire(address("a9", subject), client);
    // Each feedback has a number of its own. Real registries count the feedback of each client about each identity, but
    // that would take more memory here than the measured code.
    const about = { identity, client, index: String(given + 1) };
    const uri = `https://client.example/${"f".repeat(120)}/${given}.json`;
    const said = { value: "100", decimals: 0, tag1: "starred", tag2: "", endpoint: "", uri, hash: ZERO_HASH };
    yield reputation("feedback.given", { ...about, ...said });
    if (given % 50 === 7) yield reputation("feedback.revoked", about);
    const answer = { responder: address("a9", subject), uri: "https://a.example", hash: ZERO_HASH };
    if (given % 50 === 9) yield reputation("feedback.responded", { ...about, ...answer });
  }

  function* hire(seller: Address, buyer: Address): Generator<DeriveEvent> {
    const tx = hash();
    const paid = { token: TOKEN, from: buyer, to: seller, value: "500000", authorized: true };
    yield at({ kind: "transfer", ...paid, tx });
    yield record("receipt", seller, {
      ...{
        agent_id: seller,
        buyer,
        capability: CAPABILITY,
        hire_id: tx,
        tx_hash: tx,
        network: "eip155:8453",
      },
      ...{ amount_usdc_atomic: "500000", completed_at: START + 2 * block },
      ...{ protocol_version: "swarmwage/v0.3", verification: { all_passed: true, checks: {} } },
    });
  }

  let count = 0;
  for (const event of all()) {
    yield event;
    if (++count % EVENTS_OF_TICK === 0) yield { kind: "tick", block: ++block, time: START + 2 * block };
  }
  yield { kind: "tick", block: ++block, time: START + 2 * block };
}

function listing(agent: Address): RecordBody {
  const terms = { capability: CAPABILITY, price_usdc: "0.50", max_latency_ms: 1_000 };
  return { agent_id: agent, ...terms, endpoint: `https://${agent}.example` };
}

function address(kind: string, n: number): Address {
  return `0x${kind}${n.toString(16).padStart(38, "0")}`;
}
