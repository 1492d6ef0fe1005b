// An auditor: the verifier of each capability checks first, then a person decides with `tallystick auditor queue`.
//
//   npm run -s tallystick -- example auditor
//
// Settings: those of demoNode.ts, AUDITOR_PRIVATE_KEY (the wallet of an agent of Tier 2) and AUDITOR_DIR. To offer
// its work to an operator, the auditor also needs AUDIT_OPERATOR, AUDIT_CAPABILITIES (separated by commas) and
// AUDITOR_ENDPOINT.
import { createPublicClient, http } from "viem";
import { createAuditor } from "../auditor/createAuditor.ts";
import { everyJudge } from "../auditor/judge.ts";
import { personJudge } from "../auditor/personJudge.ts";
import { programJudge } from "../auditor/programJudge.ts";
import { fileStore } from "../store/fileStore.ts";
import { agentWallet, node } from "./demoNode.ts";

const { AUDITOR_DIR, AUDIT_OPERATOR, AUDIT_CAPABILITIES = "", AUDITOR_ENDPOINT } = process.env;
const store = fileStore(AUDITOR_DIR ?? ".tallystick/auditor");

const auditor = createAuditor({
  account: agentWallet("AUDITOR_PRIVATE_KEY"),
  baseUrl: node.url,
  // Says which assignments are final. The auditor acts on no others.
  client: createPublicClient({ transport: http(node.rpcUrl) }),
  store,
  judge: everyJudge(programJudge(), personJudge(store).judge),
  everyMs: 10_000,
  // The chain of the demo node is on this machine, and so are its sellers.
  devMode: true,
  log: (sentence, details) => console.error(sentence, details ?? ""),
});

if (AUDIT_OPERATOR && AUDITOR_ENDPOINT) {
  const capabilities = AUDIT_CAPABILITIES.split(",").filter((capability) => capability !== "");
  await auditor.offer({ operator: AUDIT_OPERATOR, capabilities, endpoint: AUDITOR_ENDPOINT });
}
auditor.start();
console.log(`${auditor.address} audits. To see what waits for you: tallystick auditor queue`);

process.once("SIGINT", stop).once("SIGTERM", stop);
async function stop(): Promise<void> {
  await auditor.close();
  process.exit(0);
}
