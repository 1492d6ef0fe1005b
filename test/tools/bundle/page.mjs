// The script of a page. It imports the bundles from its folder and uses them in the browser. `use` returns the results
// as JSON.

const load = (name) => import(`/${name}/${name}.mjs`);
const outcome = (work) =>
  work().then(
    (value) => ({ value }),
    ({ code, message, issues }) => ({ code, message, issues }),
  );

/** The requests to the network. */
const asked = [];
globalThis.fetch = async (url, init = {}) => {
  const { method = "GET", credentials, redirect, referrerPolicy } = init;
  asked.push({ url: String(url), method, credentials, redirect, referrerPolicy });
  return Response.json(
    String(url).endsWith("/v1/search") ? { agents: [{ agent_id: "0xab" }], next_cursor: null } : {},
    { status: String(url).startsWith("https://node.example") ? 200 : 404 },
  );
};
const answered = async (work) => {
  asked.length = 0;
  return { ...(await outcome(work)), asked: [...asked] };
};

async function useInclusion(input) {
  const { fromHex, leafHash, verifyInclusion } = await load("inclusion");
  const { leaf, index, size, proof, root } = input.inclusion;
  const holds = (bytes) =>
    verifyInclusion({
      leafHash: leafHash(new TextEncoder().encode(bytes)),
      index,
      size,
      proof: proof.map((hash) => fromHex(hash)),
      root: fromHex(root),
    });
  return [holds(leaf), holds(`${leaf}.`)];
}

async function useSigner(input) {
  const { signerOfText } = await load("signer");
  const { text, signature } = input.signer;
  return [signerOfText(text, signature), signerOfText(`${text}.`, signature)];
}

/** A store over `values`, which stays between visits of a page. */
function storeWith(values) {
  return {
    get: async (key) => values[key],
    put: async (key, value) => {
      values[key] = value;
    },
    putNew: async (key, value) => {
      if (key in values) return false;
      values[key] = value;
      return true;
    },
    delete: async (key) => {
      delete values[key];
    },
    keys: async (of) => Object.keys(values).filter((key) => key.startsWith(`${of}/`)),
  };
}

async function useBuyer(input) {
  const { createBuyer } = await load("buyer");
  const { address, listing, journal, missing } = input.buyer;
  const account = { address, signMessage: async () => `0x${"1".repeat(130)}` };
  const network = { chainId: 8453, token: `0x${"70".repeat(20)}`, name: "USD Coin", version: "2" };
  const buyer = createBuyer({
    account,
    baseUrl: "https://node.example",
    network,
    journal: storeWith(journal),
  });
  const order = {
    capability: listing.capability,
    params: { data: [1, 2] },
    maxPriceUsdc: "1",
    maxLatencyMs: 900,
  };
  // The listing has no signature, because only the requests are tested here.
  const hire = (changes) => () => buyer.hire({ ...order, listing, trustListing: true, ...changes });
  return {
    search: await answered(() => buyer.search({ capability: order.capability })),
    badParams: await answered(hire({ params: { data: ["one"] } })),
    stranger: await answered(hire({})),
    neighbour: await answered(hire({ listing: { ...listing, endpoint: "https://10.0.0.1/agent" } })),
    withoutFile: await answered(hire({ capability: missing, params: { text: "hello" } })),
    resumed: (await buyer.resume()).map(({ error, isOver, money }) => ({ code: error?.code, isOver, money })),
    kept: Object.keys(journal).filter((key) => key.startsWith("hire/")),
  };
}

async function useSeller(input) {
  const { createSeller } = await load("seller");
  const { address, listings } = input.seller;
  return await outcome(() =>
    createSeller({
      account: { address },
      listings,
      handlers: {},
      endpoint: "https://seller.example",
      store: storeWith({}),
    }),
  );
}

async function useEscrow(input) {
  const { escrowId } = await load("escrow");
  const { hire, deployment } = input.escrow;
  const [amount, fee, deadline] = [hire.amount, hire.fee, hire.deadline].map(BigInt);
  return escrowId({ ...hire, amount, fee, deadline }, deployment);
}

async function useQuery() {
  const { createQueryClient } = await load("query");
  const node = createQueryClient({ baseUrl: "https://node.example" });
  return await answered(() => node.search({ capability: "text.translate.en.it" }));
}

async function useDerive(input) {
  const { apply, MemoryStore, parseEvent, snapshotOf } = await load("derive");
  const store = new MemoryStore();
  for (const line of input.derive) await apply(store, parseEvent(line), { trustSignatures: true });
  return snapshotOf(store);
}

async function useVerify(input) {
  const { verifyOutput } = await load("verify");
  const found = [];
  for (const { id, params, output } of input.verify) found.push(await verifyOutput(id, params, output));
  return found;
}

export async function use(input) {
  return JSON.stringify({
    inclusion: await useInclusion(input),
    signer: await useSigner(input),
    buyer: await useBuyer(input),
    seller: await useSeller(input),
    escrow: await useEscrow(input),
    query: await useQuery(),
    derive: await useDerive(input),
    verify: await useVerify(input),
  });
}
