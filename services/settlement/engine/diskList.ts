import type { StatementSync } from "node:sqlite";

/** Records in a piece: 8 kB of hashes. */
const PER_PIECE = 256;

/** The number of pieces of one list that stay in memory, in addition to those that are not on disk yet. */
const AT_HAND = 64;

/**
 * A growing list of records of equal length, stored in pieces in a database. New records stay in memory until
 * they are committed, so a failed transaction loses none.
 */
export class DiskList {
  readonly #get: StatementSync;
  readonly #put: StatementSync;
  readonly #list: number;
  readonly #width: number;
  /** Pieces with records that are not committed. */
  readonly #fresh = new Map<number, Uint8Array>();
  readonly #known = new Map<number, Uint8Array>();
  #length: number;

  /** @param list its number in the database */
  constructor(
    { get, put }: { get: StatementSync; put: StatementSync },
    { list, width, length }: { list: number; width: number; length: number },
  ) {
    this.#get = get;
    this.#put = put;
    this.#list = list;
    this.#width = width;
    this.#length = length;
  }

  push(record: Uint8Array): void {
    const number = Math.floor(this.#length / PER_PIECE);
    const at = this.#length % PER_PIECE;
    let piece = this.#fresh.get(number);
    if (piece === undefined) {
      piece = at === 0 ? new Uint8Array(PER_PIECE * this.#width) : this.#piece(number);
      this.#fresh.set(number, piece);
    }
    piece.set(record, at * this.#width);
    this.#length++;
  }

  at(index: number): Uint8Array {
    const at = (index % PER_PIECE) * this.#width;
    return this.#piece(Math.floor(index / PER_PIECE)).slice(at, at + this.#width);
  }

  /** Writes all uncommitted records into the open transaction. */
  write(): void {
    for (const [number, piece] of this.#fresh) this.#put.run(this.#list, number, piece);
  }

  /** Call this after the transaction was committed. */
  committed(): void {
    for (const [number, piece] of this.#fresh) this.#keep(number, piece);
    this.#fresh.clear();
  }

  #piece(number: number): Uint8Array {
    const known = this.#fresh.get(number) ?? this.#known.get(number);
    if (known !== undefined) return known;
    const row = this.#get.get(this.#list, number) as { bytes: Uint8Array } | undefined;
    if (row?.bytes.length !== PER_PIECE * this.#width)
      throw new Error(`piece ${number} of list ${this.#list} is missing`);
    this.#keep(number, row.bytes);
    return row.bytes;
  }

  #keep(number: number, piece: Uint8Array): void {
    this.#known.set(number, piece);
    if (this.#known.size > AT_HAND) this.#known.delete(this.#known.keys().next().value as number);
  }
}

/**
 * The length of a list, computed from its last piece. Only for lists in which no record is all zeros. NaN if
 * the piece has a wrong length.
 *
 * @param piece undefined when the list is empty
 */
export function lengthOf(piece: { number: number; bytes: Uint8Array } | undefined, width: number): number {
  if (piece === undefined) return 0;
  if (piece.bytes.length !== PER_PIECE * width) return Number.NaN;
  const used = piece.bytes.findLastIndex((byte) => byte !== 0) + 1;
  return piece.number * PER_PIECE + Math.ceil(used / width);
}
