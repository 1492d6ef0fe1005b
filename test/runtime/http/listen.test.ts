import { createServer, type ServerResponse } from "node:http";
import { expect } from "chai";
import { listen } from "tallystick-runtime/http/listen";

const parameters = { host: "127.0.0.1", port: 0, settings: "X_HOST and X_PORT" };

describe("a server that listens", () => {
  it("says which settings to change when its port is taken", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    const error = await listen(() => {}, { ...parameters, port, onFault: () => {} }).catch((it) => it);
    taken.close();
    expect(error.code).to.equal("cannot_listen");
    expect(error.message).to.include(`port ${port}`);
    expect(error.hint).to.include("X_HOST and X_PORT");
  });

  it("gives its URL with an IPv6 address in brackets", async () => {
    const server = await listen((_, response) => response.end("ok"), {
      ...parameters,
      host: "::1",
      onFault: () => {},
    });
    expect(server.url).to.match(/^http:\/\/\[::1\]:\d+$/);
    expect(await (await fetch(server.url)).text()).to.equal("ok");
    await server.close();
  });

  it("gives running requests some time to end when it closes, and then disconnects them", async () => {
    const begun = { slow: Promise.withResolvers<ServerResponse>(), never: Promise.withResolvers<unknown>() };
    const server = await listen(
      (request, response) => begun[request.url === "/slow" ? "slow" : "never"].resolve(response),
      { ...parameters, onFault: () => {} },
    );
    const slow = fetch(`${server.url}/slow`).then((it) => it.text());
    const never = fetch(`${server.url}/never`).then(
      () => "an answer",
      () => "cut off",
    );
    const response = await begun.slow.promise;
    await begun.never.promise;
    const closed = server.close(500);
    response.end("done");
    expect(await slow).to.equal("done");
    await closed;
    expect(await never).to.equal("cut off");
  });
});
