import type { Choice, Mutant } from "./mutant.ts";

/** A mutant that can be switched on while the code runs. */
export type Choosable = Mutant & { choice: Choice };

/**
 * A source that contains several mutants. A number switches one of them on. `places` gives the byte range of
 * each.
 */
export type Choosing = { text: string; places: { start: number; end: number; mutants: Choosable[] }[] };

/** The placeholder in the code for the number of the chosen mutant, from 1. */
export const PLACEHOLDER = "6d75746174656d75746174656d75746174656d75746174656d75746174656d75";
const CHOSEN = "CHOSEN_MUTANT";

/**
 * Groups mutants that fit into one source: no two of a group overlap, unless they replace exactly the same
 * text.
 *
 * @param most how many a group may have
 */
export function groupMutants(mutants: readonly Choosable[], most: number): Choosable[][] {
  const groups: Choosable[][] = [];
  for (const mutant of mutants) {
    const { start, end } = mutant.choice;
    const fits = ({ choice }: Choosable) =>
      choice.end <= start || end <= choice.start || (choice.start === start && choice.end === end);
    const group = groups.find((one) => one.length < most && one.every(fits));
    if (group) group.push(mutant);
    else groups.push([mutant]);
  }
  return groups;
}

/**
 * Makes a source that contains the mutants of one group. The number n switches the n-th mutant on; 0 leaves
 * the source as it is.
 */
export function chooseMutants(source: string, group: readonly Choosable[]): Choosing {
  const bytes = Buffer.from(source);
  const byPlace = new Map<number, { mutant: Choosable; number: number }[]>();
  group.forEach((mutant, i) => {
    const { start } = mutant.choice;
    byPlace.set(start, [...(byPlace.get(start) ?? []), { mutant, number: i + 1 }]);
  });

  const parts: Buffer[] = [];
  const places: Choosing["places"] = [];
  let read = 0;
  let written = 0;
  const write = (part: Buffer) => {
    parts.push(part);
    written += part.length;
  };
  for (const start of [...byPlace.keys()].sort((a, b) => a - b)) {
    const here = byPlace.get(start) as { mutant: Choosable; number: number }[];
    const { form, end } = (here[0] as (typeof here)[number]).mutant.choice;
    write(bytes.subarray(read, start));
    const from = written;
    write(Buffer.from(choosing(form, bytes, here)));
    places.push({ start: from, end: written, mutants: here.map(({ mutant }) => mutant) });
    read = end;
  }
  write(bytes.subarray(read));
  // Added at the end, so that the byte ranges stay right.
  write(Buffer.from(`\nuint256 constant ${CHOSEN} = 0x${PLACEHOLDER};\n`));
  return { text: Buffer.concat(parts).toString(), places };
}

/** Replaces the placeholders of compiled code by a number; 0 chooses no mutant. */
export function fillChoice(code: string, number: number): string {
  return code.replaceAll(PLACEHOLDER, number.toString(16).padStart(64, "0"));
}

function choosing(
  form: Choice["form"],
  bytes: Buffer,
  here: { mutant: Choosable; number: number }[],
): string {
  const { start, end } = (here[0] as (typeof here)[number]).mutant.choice;
  const original = bytes.subarray(start, end).toString();
  const numbers = here.map(({ number }) => number);
  switch (form) {
    case "expression": {
      const arms = here.map(({ mutant, number }) => {
        const before = bytes.subarray(start, mutant.start);
        const after = bytes.subarray(mutant.end, end);
        return `${CHOSEN} == ${number} ? (${before}${mutant.replacement}${after}) : `;
      });
      return `(${arms.join("")}(${original}))`;
    }
    case "statement": {
      const arms = here.map(
        ({ mutant, number }) => `if (${CHOSEN} == ${number}) { ${mutant.replacement} } else `,
      );
      return `{ ${arms.join("")}{ ${original} } }`;
    }
    case "yulLiteral":
      return numbers.reduce((code, number) => `add(${code}, eq(${CHOSEN}, ${number}))`, original);
    case "yulStatement":
      return numbers.reduce((code, number) => `if iszero(eq(${CHOSEN}, ${number})) { ${code} }`, original);
  }
}
