import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type SignedRecord, signBody } from "tallystick-protocol/records/record";
import type { ClaimChecker } from "../../../services/settlement/claims/claimChecker.ts";
import {
  CHALLENGE_LIFETIME,
  ClaimDesk,
  type ClaimProof,
  verificationHashOf,
} from "../../../services/settlement/claims/claimDesk.ts";
import { buyer, seller } from "../support/records.ts";
import { NOW } from "../support/testService.ts";

const agentId = seller.address.toLowerCase() as `0x${string}`;
const subject = { agentId, handle: "somebody" };

describe("the desk of claims", () => {
  let now: number;
  /** The steps of the desk, in their order. */
  let steps: string[];
  let asked: Parameters<ClaimChecker["findPost"]>[0][];
  let settled: SignedRecord[];
  let found: string | undefined;
  const open = (secret = Uint8Array.of(1, 2, 3), isContractSignature?: () => Promise<boolean>) =>
    new ClaimDesk({
      ...{ attestor: buyer, secret, now: () => now },
      checker: {
        findPost: async (of) => {
          steps.push("ask");
          asked.push(of);
          return found;
        },
      },
      engine: {
        ledgerName: "local",
        settleRecord: async (record: SignedRecord) => {
          steps.push("settle");
          settled.push(record);
          return { status: "SETTLED", known: false, hash: "h", index: 0, timestamp: 1 };
        },
      } as never,
      ...(isContractSignature && { isContractSignature }),
    });
  beforeEach(() => {
    [now, steps, asked, settled, found] = [NOW + 0.75, [], [], [], "77"];
  });
  const proofOf = async (desk: ClaimDesk, account = seller, of = subject): Promise<ClaimProof> => {
    const { nonce } = desk.challenge(of);
    const body = { agent_id: of.agentId, x_handle: of.handle, nonce };
    return { ...of, nonce, signature: await signBody(body, { account }) };
  };
  const refusal = async (desk: ClaimDesk, proof: ClaimProof) => {
    const error = await desk.verify(proof).then(
      () => expect.fail("it was settled"),
      (cause) => cause as InvalidInputError,
    );
    expect([asked, settled]).to.deep.equal([[], []]);
    return error;
  };

  it("gives a text to post, which names the agent, and is valid for a day", () => {
    expect(CHALLENGE_LIFETIME).to.equal(86_400);
    const { nonce, verificationHash, text, expiresAt } = open().challenge(subject);
    expect(expiresAt).to.equal(NOW + 86_400);
    expect(nonce).to.match(new RegExp(`^${expiresAt}\\.[0-9a-f]{64}$`));
    expect(verificationHash).to.equal(verificationHashOf(subject, nonce));
    expect(text).to.equal(`Claiming agent ${agentId} on @swarmwage: ${verificationHash}`);
    // SHA-256 of "abc": the three texts, one after the other.
    expect(verificationHashOf({ agentId: "a" as never, handle: "b" }, "c")).to.equal(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });

  it("settles a claim with the post's id, signed by the attestor, after it was allowed to ask", async () => {
    const desk = open();
    const proof = await proofOf(desk);
    const verificationHash = verificationHashOf(subject, proof.nonce);
    const beforeAsking = async () => void steps.push("before");
    const answer = await desk.verify({ ...proof, beforeAsking });
    expect(steps).to.deep.equal(["before", "ask", "settle"]);
    expect(asked).to.deep.equal([{ handle: "somebody", text: verificationHash }]);
    expect(answer).to.deep.equal({
      ...{ record: { status: "SETTLED", known: false, hash: "h", index: 0, timestamp: 1 } },
      ...{ postId: "77", verificationHash },
    });
    expect(settled[0]).to.deep.include({
      ...{ type: "claim", signer: buyer.address.toLowerCase() },
      body: {
        ...{ type: "claim", ledger: "local", agent_id: agentId, x_handle: "somebody", state: "verified" },
        verification_hash: verificationHash,
        ...{ nonce: proof.nonce, post_id: "77", agent_signature: proof.signature },
      },
    });
    await desk.verify({ ...proof, postId: "12" });
    expect(asked[1]).to.deep.equal({ handle: "somebody", text: verificationHash, postId: "12" });
  });

  it("settles nothing without a post, or if asking is not allowed", async () => {
    const desk = open();
    const proof = await proofOf(desk);
    found = undefined;
    const verificationHash = verificationHashOf(subject, proof.nonce);
    const unproven = await desk.verify(proof).catch((error) => error);
    expect(unproven).to.include({
      code: "claim_not_proven",
      message: `No post by @somebody with ${verificationHash} was found.`,
      hint: "Publish a post with the text that POST /v1/claim gave. If the post is not found at once, send post_id.",
    });
    const limit = new Error("too many");
    asked = [];
    const refused = await refusal(desk, {
      ...proof,
      beforeAsking: () => Promise.reject(limit),
    } as ClaimProof);
    expect(refused).to.equal(limit);
  });

  it("refuses a challenge that it did not give, or gave for another agent or account, or to another secret", async () => {
    const desk = open();
    const proof = await proofOf(desk);
    const [expiry = "", code = ""] = proof.nonce.split(".");
    const other = buyer.address.toLowerCase() as `0x${string}`;
    for (const [changes, message] of [
      [{ nonce: `${expiry}.${code}0` }, "is not one of this service"],
      [{ nonce: `${expiry}.${code.slice(1)}` }, "is not one of this service"],
      [{ nonce: `x${proof.nonce}` }, "is not one of this service"],
      [{ nonce: `.${code}` }, "is not one of this service"],
      [{ nonce: `${"1".repeat(13)}.${code}` }, "is not one of this service"],
      [{ nonce: `${expiry}.${code.toUpperCase()}` }, "is not one of this service"],
      [{ nonce: `${expiry}x${code}` }, "is not one of this service"],
      [{ nonce: `${Number(expiry) + 1}.${code}` }, "was not given for this agent_id and x_handle"],
      [{ handle: "other" }, "was not given for this agent_id and x_handle"],
      [{ agentId: other }, "was not given for this agent_id and x_handle"],
    ] as const) {
      const error = await refusal(desk, { ...proof, ...changes });
      expect(error, JSON.stringify(changes))
        .to.be.instanceOf(InvalidInputError)
        .and.deep.include({
          code: "invalid_challenge",
          issues: [{ field: "nonce", message }],
          hint: "POST /v1/claim gives a new challenge.",
        });
    }
    const elsewhere = await refusal(open(Uint8Array.of(9)), proof);
    expect(elsewhere.issues[0]?.message).to.equal("was not given for this agent_id and x_handle");
    // Another process with the same secret knows it.
    expect((await open().verify(proof)).postId).to.equal("77");
  });

  it("refuses a challenge from the second at which it expires", async () => {
    const desk = open();
    const proof = await proofOf(desk);
    now = NOW + CHALLENGE_LIFETIME;
    expect((await refusal(desk, proof)).issues).to.deep.equal([{ field: "nonce", message: "has expired" }]);
    now -= 0.1;
    expect((await desk.verify(proof)).postId).to.equal("77");
  });

  it("needs the agent's own signature over exactly this claim, by its key or its contract", async () => {
    const desk = open();
    const proof = await proofOf(desk, buyer);
    expect(await refusal(desk, proof)).to.include({ code: "invalid_signature" });
    const body = { agent_id: agentId, x_handle: "other", nonce: proof.nonce };
    const signature = await signBody(body, { account: seller });
    expect(await refusal(desk, { ...proof, signature })).to.include({ code: "invalid_signature" });
    const byContract = open(undefined, async () => true);
    expect((await byContract.verify({ ...proof, signature: "0x1234" })).postId).to.equal("77");
  });
});
