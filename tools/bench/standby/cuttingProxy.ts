import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * What a proxy does to the connections of a machine to its database. `answer`: it cuts the connection instead of
 * passing on the next answer to an insert, so the row is committed and the machine does not know it. `question`: it
 * cuts the connection in place of passing on the next long query. `frozen`: it passes on nothing, in either direction,
 * until it is healed. Then it passes on everything.
 */
export type ProxyFault = "none" | "answer" | "question" | "frozen";

/** A proxy in front of a Postgres, on a port of its own. */
export type CuttingProxy = {
  url: string;
  set: (fault: ProxyFault) => void;
  /** How often it has cut. */
  cuts: () => number;
  close: () => void;
};

/** Queries with entries are longer than this, in bytes, and others are shorter. */
const LONG_QUESTION = 700;

const INSERTED = Buffer.from("INSERT 0 1\0");

/** Puts a proxy before the database at a URL. */
export async function cuttingProxy(url: string): Promise<CuttingProxy> {
  const target = new URL(url);
  const pairs = new Set<readonly [Socket, Socket]>();
  let fault: ProxyFault = "none";
  let count = 0;
  const server: Server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    const pair = [client, database] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      database.destroy();
    };
    const pass = (from: Socket, to: Socket, isCut: (bytes: Buffer) => boolean): void => {
      from.on("data", (bytes) => {
        if (isCut(bytes)) {
          fault = "none";
          count++;
          end();
        } else to.write(bytes);
      });
      from.on("error", end);
      from.on("close", end);
      if (fault === "frozen") from.pause();
    };
    pass(client, database, (bytes) => fault === "question" && bytes.length > LONG_QUESTION);
    pass(database, client, (bytes) => fault === "answer" && bytes.includes(INSERTED));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as { port: number }).port);
  return {
    url: own.href,
    set: (next) => {
      fault = next;
      for (const socket of [...pairs].flat()) {
        if (next === "frozen") socket.pause();
        else socket.resume();
      }
    },
    cuts: () => count,
    close: () => {
      server.close();
      for (const socket of [...pairs].flat()) socket.destroy();
    },
  };
}
