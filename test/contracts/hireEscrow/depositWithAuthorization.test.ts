import { expect } from "chai";
import { AMOUNT, STATUS, useWorld, wrap6492 } from "../support/world.ts";

describe("HireEscrow: depositWithAuthorization", () => {
  const world = useWorld();

  describe("given the buyer's authorization with the escrowId as nonce", () => {
    it("should hold the amount, whoever sends the authorization", async () => {
      const { ethers, escrow, escrowAddress, token, buyer, stranger, hire, idOf, signAuthorization, state } =
        world();
      const terms = await hire();
      const signature = await signAuthorization(buyer, terms);
      const call = escrow.connect(stranger).depositWithAuthorization(terms, 0n, terms.deadline, signature);
      await expect(call).to.changeTokenBalances(
        ethers,
        token,
        [buyer.address, escrowAddress, stranger.address],
        [-AMOUNT, AMOUNT, 0n],
      );
      await expect(call).to.emit(escrow, "Deposited");
      await expect(call).to.emit(token, "AuthorizationUsed").withArgs(buyer.address, idOf(terms));
      expect(await state(terms)).to.deep.equal({ status: STATUS.Held, delivered: false, amount: AMOUNT });
    });

    it("should need no allowance and no ether from the buyer", async () => {
      const { escrow, escrowAddress, token, buyer, hire, networkHelpers, signAuthorization, state } = world();
      const terms = await hire();
      await token.connect(buyer).approve(escrowAddress, 0n);
      const signature = await signAuthorization(buyer, terms);
      await networkHelpers.setBalance(buyer.address, 0n);
      await escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature);
      expect((await state(terms)).status).to.equal(STATUS.Held);
    });

    it("should give the same result for every relayer: the second relay fails and nothing moves twice", async () => {
      const { escrow, escrowAddress, token, buyer, seller, stranger, hire, idOf, signAuthorization } =
        world();
      const terms = await hire();
      const signature = await signAuthorization(buyer, terms);
      await escrow.connect(stranger).depositWithAuthorization(terms, 0n, terms.deadline, signature);
      await expect(escrow.connect(seller).depositWithAuthorization(terms, 0n, terms.deadline, signature))
        .to.be.revertedWithCustomError(escrow, "WrongStatus")
        .withArgs(idOf(terms), STATUS.Held, STATUS.None);
      expect(await token.balanceOf(escrowAddress)).to.equal(AMOUNT);
    });

    it("should be useless for somebody who sends it directly to the token", async () => {
      const { token, escrowAddress, buyer, stranger, hire, idOf, signAuthorization } = world();
      const terms = await hire();
      const signature = await signAuthorization(buyer, terms);
      const args = [
        buyer.address,
        escrowAddress,
        AMOUNT,
        0n,
        terms.deadline,
        idOf(terms),
        signature,
      ] as const;
      await expect(
        token
          .connect(stranger)
          ["receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)"](...args),
      ).to.be.revertedWithCustomError(token, "ERC20InvalidReceiver");
      await expect(
        token
          .connect(stranger)
          ["transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)"](...args),
      ).to.be.revertedWithCustomError(token, "ERC3009InvalidSignature");
    });

    it("should accept a signature inside an ERC-6492 wrapper", async () => {
      const { escrow, buyer, hire, signAuthorization, state } = world();
      const terms = await hire();
      const signature = wrap6492(await signAuthorization(buyer, terms));
      await escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature);
      expect((await state(terms)).status).to.equal(STATUS.Held);
    });

    it("should accept a contract wallet's signature, plain and wrapped", async () => {
      const { escrow, buyer, hire, signAuthorization, state, wallet } = world();
      const purchaser = await (await wallet(buyer)).getAddress();
      const bare = await hire({ buyer: purchaser });
      const wrapped = await hire({ buyer: purchaser });
      await escrow.depositWithAuthorization(bare, 0n, bare.deadline, await signAuthorization(buyer, bare));
      await escrow.depositWithAuthorization(
        wrapped,
        0n,
        wrapped.deadline,
        wrap6492(await signAuthorization(buyer, wrapped)),
      );
      expect((await state(bare)).status).to.equal(STATUS.Held);
      expect((await state(wrapped)).status).to.equal(STATUS.Held);
    });
  });

  describe("given an authorization that does not fit the terms", () => {
    it("should refuse the hire if any term was changed after signing", async () => {
      const { escrow, token, buyer, stranger, hire, signAuthorization } = world();
      const terms = await hire();
      const signature = await signAuthorization(buyer, terms);
      const changes = [
        { seller: stranger.address },
        { payee: stranger.address },
        { fee: 1n, feeRecipient: stranger.address },
        { deadline: terms.deadline + 1n },
        { arbiter: stranger.address },
        { hireId: `0x${"11".repeat(32)}` },
        { amount: AMOUNT - 1n },
      ];
      for (const change of changes) {
        await expect(
          escrow.depositWithAuthorization({ ...terms, ...change }, 0n, terms.deadline, signature),
        ).to.be.revertedWithCustomError(token, "ERC3009InvalidSignature");
      }
    });

    it("should refuse an authorization with another nonce, receiver, value or validity period", async () => {
      const { escrow, token, buyer, stranger, hire, signAuthorization } = world();
      const terms = await hire();
      for (const change of [
        { nonce: `0x${"00".repeat(32)}` },
        { to: stranger.address },
        { value: AMOUNT + 1n },
        { validAfter: 1n },
        { validBefore: terms.deadline + 1n },
      ]) {
        const signature = await signAuthorization(buyer, terms, change);
        await expect(
          escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature),
        ).to.be.revertedWithCustomError(token, "ERC3009InvalidSignature");
      }
    });

    it("should refuse somebody else's signature", async () => {
      const { escrow, token, seller, hire, signAuthorization } = world();
      const terms = await hire();
      const signature = await signAuthorization(seller, terms);
      await expect(
        escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature),
      ).to.be.revertedWithCustomError(token, "ERC3009InvalidSignature");
    });

    it("should refuse a TransferWithAuthorization, which anybody could send to the token directly", async () => {
      const { escrow, token, buyer, hire, signAuthorization } = world();
      const terms = await hire();
      const signature = await signAuthorization(buyer, terms, {}, "TransferWithAuthorization");
      await expect(
        escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature),
      ).to.be.revertedWithCustomError(token, "ERC3009InvalidSignature");
    });

    it("should refuse an authorization outside of its validity period, or a cancelled one, with the token's error", async () => {
      const { escrow, token, buyer, hire, idOf, now, signAuthorization, tokenDomain } = world();
      const terms = await hire();
      const late = (await now()) + 1_000n;
      const early = await signAuthorization(buyer, terms, { validAfter: late, validBefore: late + 10n });
      await expect(
        escrow.depositWithAuthorization(terms, late, late + 10n, early),
      ).to.be.revertedWithCustomError(token, "ERC3009InvalidAuthorizationTime");

      const fields = [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ];
      const cancellation = await buyer.signTypedData(
        tokenDomain,
        { CancelAuthorization: fields },
        { authorizer: buyer.address, nonce: idOf(terms) },
      );
      const [r, s, v] = [
        cancellation.slice(0, 66),
        `0x${cancellation.slice(66, 130)}`,
        `0x${cancellation.slice(130)}`,
      ];
      await token.cancelAuthorization(buyer.address, idOf(terms), v, r, s);
      const signature = await signAuthorization(buyer, terms);
      await expect(
        escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature),
      ).to.be.revertedWithCustomError(token, "ERC3009UsedAuthorization");
    });

    it("should refuse a buyer without the money", async () => {
      const { escrow, token, buyer, hire, signAuthorization } = world();
      const terms = await hire({ amount: 10_000_001n });
      const signature = await signAuthorization(buyer, terms);
      await expect(
        escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature),
      ).to.be.revertedWithCustomError(token, "ERC20InsufficientBalance");
    });

    it("should check the terms as deposit does", async () => {
      const { escrow, buyer, hire, signAuthorization } = world();
      const terms = await hire({ fee: 1n });
      const signature = await signAuthorization(buyer, terms);
      await expect(
        escrow.depositWithAuthorization(terms, 0n, terms.deadline, signature),
      ).to.be.revertedWithCustomError(escrow, "FeeWithoutRecipient");
    });
  });
});
