import { type Honest, review, run } from "./honest.ts";

/** Programs that the system stops or that print in other ways, and reviews in short or in plain words. */
export const honestPrograms: Honest[] = [
  run("out of memory in Node", "const a = []; while (true) a.push(new Array(1e6).fill(1));", "", {
    language: "javascript",
    exit_code: 134,
    stderr: "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
  }),
  run("killed by the system", "a = []\nwhile True: a.append('x' * 10**7)", "", {
    exit_code: 137,
    stderr: "Killed",
  }),
  run("an empty line at the end", 'x = [1]\nprint("Hello")\nprint("")', "Hello"),
  run("another print", 'from rich import print\nprint("[bold]Hello[/bold]")', "Hello\n"),
  run("a return outside of a function", 'if (process.argv.length < 3) return;\nconsole.log("ok");', "", {
    language: "javascript",
  }),
  review("of two words", "for i in range(3): x = 1", "Unused variable `x`."),
  review(
    "in plain words",
    "if (userInput == null) { query(userInput); }",
    "The user input is passed on without any validation.",
  ),
  review(
    "of a name with underscores",
    "def get_user_name(id): return db[id]",
    "The function to get the user name fails for unknown ids.",
  ),
  review(
    "of a name at the beginning of a sentence",
    "def average(values): return sum(values)/len(values)",
    "Average divides by zero for an empty list.",
  ),
];
