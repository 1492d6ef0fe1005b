import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { errorText } from "tallystick-runtime/processes/endWithError";
import { withoutUrlSecrets } from "tallystick-runtime/withoutUrlSecrets";
import { readTypeScript } from "../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

const run = promisify(execFile);

/** A program whose RPC is away. The RPC's URL contains an API key, and the client's error contains the URL. */
const PROGRAM = `
  import { createPublicClient, http } from "viem";
  import { stderrLog } from "tallystick-runtime/stderrLog";
  import { errorText } from "tallystick-runtime/processes/endWithError";
  const client = createPublicClient({
    transport: http("http://127.0.0.1:1/v2/SECRET?key=SECRET", { retryCount: 0 }),
  });
  const error = await client.getBlockNumber().catch((it) => it);
  stderrLog("The RPC is away.", { error, text: String(error), url: "http://127.0.0.1:8080/v1/hire" });
  process.stderr.write(errorText(error));
`;

describe("a log", () => {
  it("does not have the key of an RPC's URL, although the errors of clients have it", async () => {
    const args = [...readTypeScript, "--input-type=module", "--eval", PROGRAM];
    const { stderr } = await run(process.execPath, args, { cwd: path.join(repositoryRoot, "packages/sdk") });
    expect(stderr).to.contain("error: HttpRequestError").and.contain("http://127.0.0.1:1/...");
    expect(stderr).to.not.contain("SECRET");
    expect(stderr, "a value that is only a URL").to.contain("url=http://127.0.0.1:8080/v1/hire");
  });

  it("has no key of an RPC's URL, and cannot control a terminal, in the error that ends a process", () => {
    const message = "The node says: \u001b]0;title\u0007\u009b2J\u202e at https://rpc.example/v2/KEY";
    const shown = "The node says: \\u001b]0;title\\u0007\\u009b2J\\u202e at https://rpc.example/...";
    const error = new InvalidInputError({
      issues: [
        { field: "a", message },
        { field: "b", message },
      ],
    });
    for (const text of [
      errorText(error),
      errorText(new TallystickError({ code: "x", message, hint: message })),
    ]) {
      expect(text).to.contain(shown).and.not.contain("KEY");
      expect(text).to.match(/^[ -~\n]+$/);
    }
    expect(errorText(error)).to.contain(`error: b: ${shown}\n`);
    expect(errorText(message)).to.equal(`error: ${shown}\n`);
  });

  for (const [url, shown] of [
    ["https://rpc.example/v2/KEY", "https://rpc.example/..."],
    ["wss://rpc.example:8443/ws/KEY?a=1", "wss://rpc.example:8443/..."],
    ["https://user:KEY@rpc.example/", "https://rpc.example/..."],
    ["https://:KEY@rpc.example/", "https://rpc.example/..."],
    ["https://rpc.example?KEY", "https://rpc.example/..."],
    ["https://rpc.example", "https://rpc.example"],
    ["http://127.0.0.1:8545/", "http://127.0.0.1:8545/"],
  ] as const) {
    it(`shows ${url} as ${shown}`, () => {
      expect(withoutUrlSecrets(`URL: ${url}\nRequest body: {}`)).to.equal(`URL: ${shown}\nRequest body: {}`);
      // Such signs are no part of a port.
      for (const sign of [":", ".", ",", ")", "):"]) {
        const text = `(at ${url}${sign} no answer`;
        expect(withoutUrlSecrets(text)).to.equal(text.replace(url, shown));
      }
    });
  }
});
