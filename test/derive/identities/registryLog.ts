import type { LogRegistries } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import { EventLog, NOBODY } from "../eventLog.ts";

export const IDENTITY: Address = `0x${"1d".repeat(20)}`;
export const REPUTATION: Address = `0x${"4e".repeat(20)}`;
/** An implementation that the log lists, and another implementation. */
export const LISTED: Address = `0x${"20".repeat(20)}`;
export const UNLISTED: Address = `0x${"66".repeat(20)}`;
export const REGISTRIES: LogRegistries = {
  identity: IDENTITY,
  reputation: REPUTATION,
  implementations: [LISTED],
};

const WALLET = "agentWallet";

/** A log with events of the ERC-8004 contracts, in the order in which the contracts emit them. */
export class RegistryLog extends EventLog {
  readonly #given = new Map<string, number>();

  /** @param isDeployed whether the registries run a listed implementation */
  constructor(params: ConstructorParameters<typeof EventLog>[0] = {}, isDeployed = true) {
    super(params, { registries: REGISTRIES });
    if (isDeployed) this.upgraded(IDENTITY).upgraded(REPUTATION);
  }

  /**
   * `register(uri)`: the mint, the owner's actions in its callback, then the registration and the first wallet.
   *
   * @param meanwhile the actions of an owning contract in `onERC721Received`
   */
  register(
    identity: number,
    owner: Address,
    { uri = "https://agent.example", tx = this.hash(), meanwhile = (_: Hex): unknown => undefined } = {},
  ): Hex {
    this.moved(identity, NOBODY, owner, tx);
    meanwhile(tx);
    this.registry("identity.registered", { identity: String(identity), owner, uri, tx });
    this.wallet(identity, owner, tx);
    return tx;
  }

  /** A transfer of the token. The contract first clears the identity's wallet. */
  sold(identity: number, from: Address, to: Address, tx = this.hash()): this {
    return this.wallet(identity, null, tx).moved(identity, from, to, tx);
  }

  moved(identity: number, from: Address, to: Address, tx = this.hash()): this {
    return this.registry("identity.transferred", { identity: String(identity), from, to, tx });
  }

  wallet(identity: number, wallet: Address | null, tx = this.hash()): this {
    return this.metadata(identity, WALLET, wallet ?? "0x", tx);
  }

  metadata(identity: number, key: string, value: Hex, tx = this.hash()): this {
    return this.registry("identity.metadataSet", { identity: String(identity), key, value, tx });
  }

  /** @returns the feedback's id */
  feedback(identity: number, client: Address, more: object = {}): string {
    const pair = `${identity}/${client}`;
    const index = (this.#given.get(pair) ?? 0) + 1;
    this.#given.set(pair, index);
    const said = {
      value: "100",
      decimals: 0,
      tag1: "starred",
      tag2: "",
      endpoint: "",
      uri: "",
      hash: ZERO_HASH,
    };
    const about = { identity: String(identity), client, index: String(index) };
    this.reputation("feedback.given", { ...about, ...said, ...more });
    return `${pair}/${index}`;
  }

  revoked(feedback: string): this {
    return this.reputation("feedback.revoked", partsOf(feedback));
  }

  responded(feedback: string, responder: Address): this {
    const said = { responder, uri: "https://answer.example", hash: ZERO_HASH };
    return this.reputation("feedback.responded", { ...partsOf(feedback), ...said });
  }

  upgraded(registry: Address, implementation = LISTED): this {
    return this.push({ kind: "registry.upgraded", registry, implementation, tx: this.hash() });
  }

  /** An event of the identity registry. */
  registry(kind: string, fields: object): this {
    return this.push({ kind, registry: IDENTITY, ...fields });
  }

  reputation(kind: string, fields: object): this {
    return this.push({ kind, registry: REPUTATION, tx: this.hash(), ...fields });
  }
}

function partsOf(feedback: string) {
  const [identity, client, index] = feedback.split("/");
  return { identity, client, index };
}
