/** An error of a contract: its form, its meaning, and what to do. */
export type ContractError = { signature: string; means: string; do: string };

/**
 * The errors that an interface declares, with the comment above each.
 *
 * @param pages the contract's pages, whose tables say in the last column what to do
 */
export function contractErrors(solidity: string, pages: readonly string[]): ContractError[] {
  const toDo = new Map(pages.flatMap(toDoIn).reverse());
  const found = solidity.matchAll(/((?:^ *\/\/\/.*\n)*)^ *error (\w+)\(([^)]*)\);/gm);
  return [...found].map(([, comment = "", name = "", parameters = ""]) => ({
    signature: `${name}(${namesOf(parameters)})`,
    means: noticeOf(comment),
    do: toDo.get(name) ?? "",
  }));
}

/** The last column of the rows in a page's tables, by the error's name. */
function toDoIn(page: string): [name: string, text: string][] {
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  return rows.flatMap((row) => {
    const cells = row.slice(1, -1).split(/(?<!\\)\|/);
    if (cells.length !== 3) return [];
    const names = [...(cells[0] as string).matchAll(/`([A-Z]\w+)\(/g)].map(([, name]) => name as string);
    return names.map((name): [string, string] => [name, (cells[2] as string).trim()]);
  });
}

const namesOf = (parameters: string): string =>
  parameters
    .split(",")
    .map((parameter) => parameter.trim().split(" ").at(-1))
    .join(", ");

function noticeOf(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^ *\/\/\/ ?/, ""));
  const [, notice = ""] = /@notice ([\s\S]*?)(?=@|$)/.exec(lines.join(" ")) ?? [];
  return notice.replaceAll(/\s+/g, " ").trim();
}
