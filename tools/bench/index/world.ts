import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { FastSigner, SigningAgent } from "./fastSigner.ts";

/** How large the generated chain is. */
export type WorldSize = {
  transfers: number;
  /** 0 for a chain with transfers only: nobody lists, hires or writes receipts. */
  agents: number;
  /** Members of each ring: agents that one wallet funds and that hire each other. */
  rings: number[];
  /** One transfer in this many pays for a hire. Default 10. */
  transfersAHire?: number;
  /** Of the other transfers, one in this many goes to an agent; 0 for none. Default 20. */
  transfersAnAgent?: number;
  /** The number of listings of an agent. Default 1. */
  listings?: number;
  /**
   * Before everything else, money reaches each agent in this many transfers, from a wallet of its own. Then the agents
   * publish their listings at the end of the chain.
   */
  ancestry?: number;
};

export type WorldTransfer = { from: Address; to: Address; value: number; authorized: boolean };

/** A payment that its seller will write a receipt for. */
export type WorldHire = {
  seller: SigningAgent;
  buyer: Address;
  value: number;
  capability: string;
  serial: number;
};

export type WorldBlock = { number: number; time: number; transfers: WorldTransfer[]; hires: WorldHire[] };

export const TRANSFERS_PER_BLOCK = 200;
export const SECONDS_PER_BLOCK = 60;
const START = 1_767_225_600;
const CAPABILITIES = ["text.translate", "code.review", "chart.generate", "data.extract", "image.describe"];
/** One hire in this many is inside a ring. */
const HIRES_A_RING_HIRE = 10;
/**
 * The number of transfers for each wallet that is not an agent. On a real chain most wallets appear only a few
 * times.
 */
const TRANSFERS_A_STRANGER = 5;

/**
 * Generates the contents of a bench chain: strangers who move money, agents that hire and pay each other, and
 * rings that one wallet funds. The same size always gives the same contents.
 */
export function createWorld(size: WorldSize, signer: FastSigner) {
  const random = createRandom(1);
  const { transfersAHire = 10, transfersAnAgent = 20, ancestry = 0 } = size;
  const agents = Array.from({ length: size.agents }, (_, n) =>
    signer.agent(sha256(utf8ToBytes(`tallystick bench agent ${n}`))),
  );
  const strangers = Math.max(1_000, Math.floor(size.transfers / TRANSFERS_A_STRANGER));
  const stranger = () => addressOf(`stranger ${random(strangers)}`);
  const agent = () => agents[random(agents.length)] as SigningAgent;
  const rings = ringsOf(size.rings, agents);
  const funding = rings.flatMap((members, n) =>
    members.map(
      ({ address }): WorldTransfer => ({
        from: addressOf(`ring ${n}`),
        to: address,
        value: 100_000_000,
        authorized: false,
      }),
    ),
  );
  // All first transfers come before all second transfers. So the transfers of a wallet are in order, and far apart.
  for (let step = 0; step < ancestry; step++) {
    for (const [n, { address }] of agents.entries()) {
      const on = (at: number) => (at === ancestry ? address : addressOf(`ancestor ${n} ${at}`));
      funding.push({ from: on(step), to: on(step + 1), value: 100_000_000 - step, authorized: false });
    }
  }
  let [serial, funded] = [0, 0];

  function hire(): { transfer: WorldTransfer; hire: WorldHire } | null {
    if (agents.length === 0) return null;
    const ring = random(HIRES_A_RING_HIRE) === 0 ? rings[random(rings.length)] : undefined;
    const pick = () => (ring === undefined ? agent() : (ring[random(ring.length)] as SigningAgent));
    const [seller, buyer] = [pick(), pick()];
    if (seller === buyer) return null;
    const value = 1_000 + random(2_000_000);
    const capability = CAPABILITIES[random(CAPABILITIES.length)] ?? "";
    return {
      transfer: { from: buyer.address, to: seller.address, value, authorized: true },
      hire: { seller, buyer: buyer.address, value, capability, serial: serial++ },
    };
  }

  function noise(): WorldTransfer {
    const isToAgent = transfersAnAgent > 0 && random(transfersAnAgent) === 0 && agents.length > 0;
    const to = isToAgent ? agent().address : stranger();
    return { from: stranger(), to, value: random(50_000_000), authorized: random(3) === 0 };
  }

  return {
    agents,
    time: (block: number) => START + block * SECONDS_PER_BLOCK,
    listing: (n: number, { address }: SigningAgent, which = 0): RecordBody => ({
      agent_id: address,
      capability: which === 0 ? (CAPABILITIES[n % CAPABILITIES.length] ?? "") : `bench.kind${which}`,
      price_usdc: `${1 + (n % 97)}.${String(n % 90).padStart(2, "0")}`,
      max_latency_ms: 100 + ((n * 37) % 9_000),
      endpoint: `https://agent-${n}.example/hire`,
    }),
    *blocks(firstBlock: number): Generator<WorldBlock> {
      let made = 0;
      for (let number = firstBlock; made < size.transfers; number++) {
        const block: WorldBlock = {
          number,
          time: START + number * SECONDS_PER_BLOCK,
          transfers: [],
          hires: [],
        };
        while (block.transfers.length < TRANSFERS_PER_BLOCK && made < size.transfers) {
          const paid = ancestry === 0 && made % transfersAHire === 0 ? hire() : null;
          block.transfers.push(paid?.transfer ?? funding[funded++] ?? noise());
          if (paid !== null) block.hires.push(paid.hire);
          made++;
        }
        yield block;
      }
    },
  };
}

/** The receipt for a payment. */
export function receiptOf(hire: WorldHire, tx: string, time: number): RecordBody {
  return {
    agent_id: hire.seller.address,
    amount_usdc_atomic: String(hire.value),
    buyer: hire.buyer,
    capability: hire.capability,
    completed_at: time,
    hire_id: `hire-${hire.serial}`,
    latency_ms: (hire.serial * 7_919) % 5_000,
    network: "eip155:31337",
    protocol_version: "swarmwage/v0.3",
    tx_hash: tx,
    verification: { all_passed: hire.serial % 20 !== 0, checks: {} },
  };
}

function ringsOf(sizes: number[], agents: SigningAgent[]): SigningAgent[][] {
  let from = 0;
  return sizes.map((size) => {
    from += size;
    return agents.slice(from - size, from);
  });
}

function addressOf(name: string): Address {
  return `0x${bytesToHex(sha256(utf8ToBytes(name)).subarray(12))}`;
}

/** Whole numbers below a bound, the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
