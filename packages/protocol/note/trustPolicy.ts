import { bytesToHex } from "@noble/hashes/utils.js";
import { InvalidInputError } from "../errors.ts";
import { cosignedAt, parseCosignerKey } from "./cosignature.ts";
import { isNoteSignedBy, type NoteVerifierKey, parseVerifierKey, type SignedNote } from "./signedNote.ts";

/** A witness of a policy: its name in the policy, its key and its address. */
export type PolicyWitness = { name: string; key: NoteVerifierKey; url?: string };

/** A group of a policy. It counts as a witness when at least `least` of its members have cosigned. */
type PolicyGroup = { least: number; members: readonly string[] };

/** Whose checkpoints are trusted, and which cosignatures under them are enough (C2SP tlog-policy). */
export type TrustPolicy = {
  logs: readonly { key: NoteVerifierKey; url?: string }[];
  witnesses: readonly PolicyWitness[];
  groups: ReadonlyMap<string, PolicyGroup>;
  /** A witness, a group, or `none`. */
  quorum: string;
};

/** The longest policy, in UTF-16 units. */
const MAX_POLICY_LENGTH = 200_000;
/** The most logs of a policy, also the most witnesses, and the most groups. */
const MAX_OF_KIND = 64;

/** The quorum that needs no cosignature. */
const NONE = "none";

/**
 * Reads a policy: lines that begin with `log`, `witness` or `group`, and one line that begins with `quorum`.
 *
 * @throws InvalidInputError naming `field` and the line
 */
export function parseTrustPolicy(text: string, field = "policy"): TrustPolicy {
  if (text.length > MAX_POLICY_LENGTH) refuse(field, `must have at most ${MAX_POLICY_LENGTH} characters`);
  const logs: { key: NoteVerifierKey; url?: string }[] = [];
  const witnesses: PolicyWitness[] = [];
  const groups = new Map<string, PolicyGroup>();
  const names = new Set<string>([NONE]);
  const members = new Set<string>();
  let quorum: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const at = `${field}, line ${index + 1}`;
    // The tab is the only control character that is allowed. Others could hide a part of a line from a reader.
    if ([...line].some((character) => /\p{Cc}/u.test(character) && character !== "\t"))
      refuse(at, "has a control character");
    const [kind, ...words] = line.split(/[ \t]/).filter((word) => word !== "");
    if (kind === undefined || kind.startsWith("#")) continue;
    if (kind === "log") readLog(at, words);
    else if (kind === "witness") readWitness(at, words);
    else if (kind === "group") readGroup(at, words);
    else if (kind === "quorum") readQuorum(at, words);
    else refuse(at, "must begin with log, witness, group or quorum");
  }
  if (quorum === undefined) return refuse(field, "must have a quorum line");
  return { logs, witnesses, groups, quorum };

  function readLog(at: string, [vkey, url, ...rest]: string[]): void {
    if (vkey === undefined || rest.length > 0) refuse(at, "must be `log <vkey> [<url>]`");
    const key = parseVerifierKey(vkey, at);
    requireNew(at, key, logs);
    logs.push({ key, ...(url !== undefined && { url }) });
  }

  function readWitness(at: string, [name, vkey, url, ...rest]: string[]): void {
    if (name === undefined || vkey === undefined || rest.length > 0)
      refuse(at, "must be `witness <name> <vkey> [<url>]`");
    const key = parseCosignerKey(vkey, at);
    requireNew(at, key, witnesses);
    takeName(at, name);
    witnesses.push({ name, key, ...(url !== undefined && { url }) });
  }

  function readGroup(at: string, [name, count, ...named]: string[]): void {
    if (name === undefined || count === undefined || named.length === 0)
      refuse(at, "must be `group <name> all|any|<k> <name>…`");
    const least = count === "all" ? named.length : count === "any" ? 1 : wholeNumber(count);
    // If the count is no number, it is NaN, and the comparison is false.
    if (!(least <= named.length))
      refuse(at, `must ask for 1 to ${named.length} of its ${named.length} members`);
    for (const member of named) {
      if (member === NONE || !names.has(member))
        refuse(at, `names ${member}, which no line before it defines`);
      if (members.has(member)) refuse(at, `names ${member}, which is a member already`);
      members.add(member);
    }
    takeName(at, name);
    if (groups.size >= MAX_OF_KIND) refuse(at, `is a group too many: at most ${MAX_OF_KIND} are allowed`);
    groups.set(name, { least, members: named });
  }

  function readQuorum(at: string, [name, ...rest]: string[]): void {
    if (name === undefined || rest.length > 0) refuse(at, "must be `quorum <name>`");
    if (quorum !== undefined) refuse(at, "is a second quorum");
    if (!names.has(name)) refuse(at, `names ${name}, which no line before it defines`);
    quorum = name;
  }

  function takeName(at: string, name: string): void {
    if (names.has(name)) refuse(at, `defines ${name} again`);
    names.add(name);
  }
}

/** Whether these witnesses are enough for the policy's quorum. `witnessed` has their names in the policy. */
export function isQuorum(policy: TrustPolicy, witnessed: ReadonlySet<string>): boolean {
  if (policy.quorum === NONE) return true;
  // A group names only earlier lines, and a member belongs to one group only. So this loop ends, and visits
  // each name once.
  const holds = (name: string): boolean => {
    const group = policy.groups.get(name);
    if (group === undefined) return witnessed.has(name);
    return group.members.filter(holds).length >= group.least;
  };
  return holds(policy.quorum);
}

/** The witnesses of a policy that have cosigned a checkpoint, each with its time in unix seconds. */
export function witnessesOf(note: SignedNote, policy: TrustPolicy): Map<string, number> {
  const witnessed = new Map<string, number>();
  for (const { name, key } of policy.witnesses) {
    const time = cosignedAt(note, key);
    if (time !== undefined) witnessed.set(name, time);
  }
  return witnessed;
}

/**
 * Checks a checkpoint against a policy: one of its logs signed it, and enough of its witnesses cosigned it.
 *
 * @param origin the checkpoint's first line
 * @returns what is wrong, as a sentence; undefined if the checkpoint is good
 */
export function policyObjection(note: SignedNote, origin: string, policy: TrustPolicy): string | undefined {
  const signers = policy.logs.filter(({ key }) => key.name === origin);
  if (signers.length === 0) return `The policy has no log ${origin}.`;
  if (!signers.some(({ key }) => isNoteSignedBy(note, key)))
    return `No key that the policy has for ${origin} signed the checkpoint.`;
  const witnessed = witnessesOf(note, policy);
  if (isQuorum(policy, new Set(witnessed.keys()))) return undefined;
  const who = witnessed.size === 0 ? "none" : [...witnessed.keys()].join(", ");
  return `The policy's quorum ${policy.quorum} has not cosigned the checkpoint; of its witnesses: ${who}.`;
}

function requireNew(
  at: string,
  { publicKey }: NoteVerifierKey,
  known: readonly { key: NoteVerifierKey }[],
): void {
  if (known.length >= MAX_OF_KIND)
    refuse(at, `is one line of its kind too many: at most ${MAX_OF_KIND} are allowed`);
  const text = bytesToHex(publicKey);
  if (known.some(({ key }) => bytesToHex(key.publicKey) === text)) refuse(at, "has the key of another line");
}

function wholeNumber(text: string): number {
  return /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : Number.NaN;
}

function refuse(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message: `${message} (C2SP tlog-policy)` }] });
}
