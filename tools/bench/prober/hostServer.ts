// Hosts for the soak of a prober, in a process of their own: one TLS server for every address of 127/8. Prints
// its port. GET /counts at 127.0.0.1 returns how often each host was asked. GET /slot/N sets the slot of the hour.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { requiredHeaders } from "tallystick-sdk/x402/paymentHeaders";
import { isUp, kindOf } from "./localAddresses.ts";
import { testCertificate } from "./testCertificate.ts";

const terms = (payTo: string): { [name: string]: string } =>
  requiredHeaders({
    x402Version: 2,
    resource: { url: "https://seller.example/hire" },
    accepts: [
      {
        scheme: "exact",
        network: "eip155:8453",
        asset: `0x${"07".repeat(20)}`,
        amount: "50000",
        payTo,
        maxTimeoutSeconds: 60,
        extra: {},
      },
    ],
  } as never);

const asked = new Map<string, number>();
const open = new Map<string, number>();
let mostAtOnce = 0;
let slot = 0;

const server = createServer(testCertificate, async (request, response) => {
  const address = request.socket.localAddress ?? "";
  request.socket.on("error", () => {});
  if (request.url === "/counts") {
    response.end(JSON.stringify({ asked: Object.fromEntries(asked), mostAtOnce }));
    return;
  }
  if (request.url?.startsWith("/slot/")) {
    slot = Number(request.url.slice("/slot/".length));
    response.end("{}");
    return;
  }
  asked.set(address, (asked.get(address) ?? 0) + 1);
  const now = (open.get(address) ?? 0) + 1;
  open.set(address, now);
  mostAtOnce = Math.max(mostAtOnce, now);
  request.socket.on("close", () => open.set(address, (open.get(address) ?? 1) - 1));
  let body = "";
  request.on("error", () => {});
  for await (const piece of request) body += piece;
  answer(address, request, response, body);
});

function answer(address: string, { socket }: IncomingMessage, response: ServerResponse, body: string): void {
  const { seller_id: seller } = JSON.parse(body) as { seller_id: string };
  const kind = kindOf(address);
  switch (kind) {
    case "hangs":
      return;
    case "drips": {
      socket.write("HTTP/1.1 402 Payment Required\r\nx: ");
      const timer = setInterval(() => socket.write("y"), 500);
      socket.on("close", () => clearInterval(timer));
      return;
    }
    case "endless": {
      response.writeHead(402);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.on("drain", more).on("error", () => {});
      more();
      return;
    }
    case "redirects":
      response.writeHead(302, { location: "https://10.0.0.1/hire" }).end();
      return;
    case "fails":
      response.writeHead(500).end();
      return;
    case "breaks":
      socket.destroy();
      return;
    case "lies":
      response.writeHead(402, terms(`0x${"66".repeat(20)}`)).end("{}");
      return;
    case "twice":
    case "thrice":
      if (isUp(kind, slot)) response.writeHead(402, terms(seller)).end("{}");
      else response.writeHead(500).end();
      return;
    case "answers":
      response.writeHead(402, terms(seller)).end("{}");
  }
}

server.on("tlsClientError", () => {});
server.listen(0, "0.0.0.0", 4_096, () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
