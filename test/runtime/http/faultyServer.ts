// A server whose listeners fail in different ways, for requestScope.test.ts. The path of a request chooses the way.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { guardServer } from "tallystick-runtime/http/guardServer";
import { asOurOwn, surviveRequests } from "tallystick-runtime/http/requestScope";

const fail = (how: string) => {
  throw new Error(`it fails ${how}`);
};
const soon = async (how: string) => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  fail(how);
};

const server = createServer((request, response) => {
  const how = request.url ?? "";
  if (how === "/at-once") fail(how);
  if (how === "/in-a-timer") setTimeout(fail, 1, how);
  else if (how === "/in-a-promise") void soon(how);
  else if (how === "/while-it-answers") {
    response.write("half");
    setTimeout(fail, 1, how);
  } else if (how === "/of-its-own") asOurOwn(() => setTimeout(fail, 1, how));
  else response.end("served");
});
server.on("upgrade", (request, socket) => {
  const how = request.url ?? "";
  if (how === "/upgrade/breaks") socket.destroy(new Error(`it fails ${how}`));
  else if (how === "/upgrade/breaks-later") setTimeout(() => socket.destroy(new Error(how)), 1);
  else fail(how);
});

const onFault = (error: unknown) => process.stdout.write(`fault: ${(error as Error).message}\n`);
guardServer(server, onFault);
surviveRequests(onFault);
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`listening: ${(server.address() as AddressInfo).port}\n`);
});
