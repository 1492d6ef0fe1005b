// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title HireEscrow
/// @notice Holds a buyer's money for one hire until the buyer releases it, somebody entitled refunds it, or its deadline
/// sends it back. One deployment per token and provider. Immutable: no owner, no upgrade, no way for anyone but the
/// parties of a hire to receive its money. A new version is a new deployment; money in the old one settles there.
///
/// A hire is named by its `escrowId`, the EIP-712 digest of all its terms in this contract's domain. Every signature
/// this contract accepts, and the token's own authorization nonce, is over that id: whoever signs agrees to these
/// terms, on this chain, in this contract, and a signature for one hire is worth nothing for another.
///
/// An escrowId is deposited once and for all. `hireId` is the buyer's own number for a hire: the buyer's address is
/// among the terms, so two buyers may use the same one and nobody can take another's. That one buyer does not use it
/// twice with different terms is the buyer's duty: it takes two of the buyer's signatures over different terms, the
/// money of both comes back at their deadlines, and a second storage slot to forbid it would cost every hire 22,100 gas.
///
/// For the safety of the money held, this contract assumes of its token:
///  1. `balanceOf` tells the truth.
///  2. The balance of this contract falls only by transfers that it makes itself.
/// It does not assume that a transfer succeeds, returns true, moves all of its amount, or cannot call back. Every deposit
/// and payment is measured by the balance: a deposit has to bring exactly its amount, what a payment does not move becomes
/// a credit ({withdraw}), and a payment that would take more than its amount reverts.
/// For liveness, that is for everybody to be paid in time, it assumes of the token:
///  3. It is not paused for good and does not bar this contract.
///  4. A transfer takes no more than 200,000 gas; a dearer one ends as a credit, which {withdraw} pays without a limit.
///  5. A transfer takes from the sender no more than its amount.
///  6. For {depositWithAuthorization}: it has ERC-3009's `receiveWithAuthorization` in the form with `bytes signature`.
/// And of the chain:
///  7. Its id stays. After a split that changes it, hires of before can be settled only on the side that kept it.
interface IHireEscrow {
    /// @notice The terms of a hire. They travel in calldata and can be rebuilt from {Deposited}.
    /// @param hireId The buyer's number for this hire.
    /// @param buyer Who pays, and to whom everything refunded goes.
    /// @param seller The agent hired.
    /// @param payee Who receives for the seller; the zero address means the seller.
    /// @param amount Atomic units of the token; fee included.
    /// @param fee Part of `amount` for feeRecipient; at most `amount`.
    /// @param feeRecipient Receives the fee; may be zero only if the fee is.
    /// @param deadline Unix seconds. Delivery can be marked before it; anyone can send the money back from it on.
    /// @param arbiter May refund; the zero address means that there is none.
    struct Hire {
        bytes32 hireId;
        address buyer;
        address seller;
        address payee;
        uint128 amount;
        uint128 fee;
        address feeRecipient;
        uint64 deadline;
        address arbiter;
    }

    /// @notice Where an escrowId stands. Every status but None and Held is final.
    enum Status {
        None,
        Held,
        Released,
        Split,
        Refunded,
        TimedOut
    }

    /// @notice All that is stored of a hire, in one slot.
    /// @param status Where it stands.
    /// @param delivered Whether the seller marked delivery in time.
    /// @param amount What is held for it now; zero unless Held.
    struct State {
        Status status;
        bool delivered;
        uint128 amount;
    }

    /// @notice The contract holds `amount` for this hire. Carries all its terms.
    /// @param escrowId The hire.
    /// @param buyer Who paid.
    /// @param seller The agent hired.
    /// @param hireId The buyer's number for it.
    /// @param payee Who receives for the seller, as signed (zero means the seller).
    /// @param amount Atomic units held.
    /// @param fee Part of it for feeRecipient.
    /// @param feeRecipient Receives the fee.
    /// @param deadline Unix seconds from which anyone can send it back.
    /// @param arbiter May refund (zero: nobody).
    event Deposited(
        bytes32 indexed escrowId,
        address indexed buyer,
        address indexed seller,
        bytes32 hireId,
        address payee,
        uint128 amount,
        uint128 fee,
        address feeRecipient,
        uint64 deadline,
        address arbiter
    );

    /// @notice The seller says it has delivered. Moves nothing.
    /// @param escrowId The hire.
    /// @param resultHash What the seller says it delivered.
    event Delivered(bytes32 indexed escrowId, bytes32 resultHash);

    /// @notice The buyer released all or, after a split, part of the money.
    /// @param escrowId The hire.
    /// @param buyer Its buyer.
    /// @param seller Its seller.
    /// @param toSeller The seller's part, before the fee.
    /// @param toBuyer What went back to the buyer.
    /// @param fee What went to feeRecipient, out of toSeller.
    event Released(
        bytes32 indexed escrowId,
        address indexed buyer,
        address indexed seller,
        uint128 toSeller,
        uint128 toBuyer,
        uint128 fee
    );

    /// @notice All of it went back to the buyer by somebody's word.
    /// @param escrowId The hire.
    /// @param buyer Its buyer.
    /// @param seller Its seller.
    /// @param amount Atomic units.
    /// @param by Whose word: the buyer, the seller, or the hire's arbiter.
    event Refunded(
        bytes32 indexed escrowId, address indexed buyer, address indexed seller, uint128 amount, address by
    );

    /// @notice All of it went back to the buyer because the deadline passed.
    /// @param escrowId The hire.
    /// @param buyer Its buyer.
    /// @param seller Its seller.
    /// @param amount Atomic units.
    /// @param delivered Whether the seller had marked delivery.
    event TimedOut(
        bytes32 indexed escrowId, address indexed buyer, address indexed seller, uint128 amount, bool delivered
    );

    /// @notice The token did not make a payment, or not all of it; the account can {withdraw} the rest.
    /// @param account Whose money it is.
    /// @param escrowId The hire it comes from.
    /// @param amount Atomic units not paid.
    event Credited(address indexed account, bytes32 indexed escrowId, uint256 amount);

    /// @notice An account's credit was paid to it.
    /// @param account Who was paid.
    /// @param amount Atomic units.
    event Withdrawn(address indexed account, uint256 amount);

    /// @notice No deposits until then.
    /// @param until Unix seconds at which the pause ends by itself.
    event Paused(uint256 until);

    /// @notice Deposits are possible again before the pause ran out.
    event Unpaused();

    /// @notice One item of a batch failed and changed nothing; the others went on.
    /// @param index Which of the batch's calls.
    /// @param reason The first 256 bytes of what it returned: its error. Empty when it ran out of gas.
    event ItemFailed(uint256 index, bytes reason);

    /// @notice A batch ended before this item, since too little gas was left to give it what each was to have.
    /// @param index The first of the batch's calls that was not tried.
    event BatchStopped(uint256 index);

    /// @notice Only this account may do that.
    error NotAuthorized(address actual, address expected);
    /// @notice Refunds are for the buyer, the seller, or the arbiter named in the hire.
    error NotAParty(address signer);
    /// @notice The signature is not this signer's over these terms.
    error InvalidSignature(address signer);
    /// @notice The hire is not in the status this needs.
    error WrongStatus(bytes32 escrowId, Status actual, Status expected);
    /// @notice Delivery is marked once.
    error AlreadyDelivered(bytes32 escrowId);
    /// @notice A hire of nothing.
    error AmountIsZero();
    /// @notice The fee is part of the amount.
    error FeeAboveAmount(uint128 fee, uint128 amount);
    /// @notice A fee needs somebody to receive it.
    error FeeWithoutRecipient(uint128 fee);
    /// @notice A hire needs a seller.
    error SellerIsZero();
    /// @notice Nobody hires itself: the buyer is neither seller nor payee.
    error BuyerPaysItself(address buyer);
    /// @notice Money sent to this contract or to the token itself would be lost.
    error ForbiddenRecipient(address recipient);
    /// @notice This contract is nobody's buyer, seller or arbiter: it gives no word.
    error EscrowIsParty();
    /// @notice Too late: `time` has reached the deadline.
    error DeadlinePassed(uint256 time, uint256 deadline);
    /// @notice Too early: `time` has not reached the deadline.
    error DeadlineNotReached(uint256 time, uint256 deadline);
    /// @notice A split gives both sides something: 0 < toSeller < amount.
    error SplitOutOfRange(uint128 toSeller, uint128 amount);
    /// @notice The balance changed by something else than the amount.
    error AmountMoved(uint256 actual, uint256 expected);
    /// @notice Deposits are paused.
    error DepositsPaused(uint256 time, uint256 until);
    /// @notice A pause lasts 1 second to `limit` seconds.
    error PauseLength(uint256 actual, uint256 limit);
    /// @notice The account has no credit.
    error NothingToWithdraw(address account);
    /// @notice A batch is no item of a batch.
    error BatchInBatch();
    /// @notice Send the transaction with more gas: going on with less could fail somebody's payment on purpose.
    error NotEnoughGas(uint256 actual, uint256 limit);
    /// @notice The token must be a contract.
    error TokenWithoutCode(address token);
    /// @notice The guardian must be an account.
    error GuardianIsZero();
    /// @notice The provider id has 1 to `limit` bytes.
    error ProviderIdLength(uint256 actual, uint256 limit);

    /// @notice Deposits for a hire by allowance. The sender is the buyer.
    /// @param hire The terms.
    function deposit(Hire calldata hire) external;

    /// @notice Deposits for a hire by the buyer's ERC-3009 authorization. Anyone relays; whoever is first changes nothing.
    /// @dev The authorization is `ReceiveWithAuthorization(buyer, this contract, amount, validAfter, validBefore, nonce)`
    /// in the token's domain with nonce = escrowId, so that one signature funds the hire and fixes its terms.
    /// @param hire The terms.
    /// @param validAfter Unix seconds after which the authorization is good.
    /// @param validBefore Unix seconds before which it is good.
    /// @param signature The buyer's: 65 bytes, ERC-1271, or ERC-6492 of a deployed wallet (the wrapper is taken off for
    /// the token).
    function depositWithAuthorization(
        Hire calldata hire,
        uint256 validAfter,
        uint256 validBefore,
        bytes calldata signature
    ) external;

    /// @notice Deposits for a hire by ERC-2612 permit. Anyone relays.
    /// @dev The permit is tried, not required: when somebody used it beforehand the allowance is there already.
    /// @param hire The terms.
    /// @param permitValue Allowance the permit grants.
    /// @param permitDeadline Unix seconds until which the permit is good.
    /// @param permitSignature The buyer's over the permit, with this contract as spender; empty to use an allowance.
    /// @param signature The buyer's over the hire (EIP-712 `Hire`); empty when the buyer sends.
    function depositWithPermit(
        Hire calldata hire,
        uint256 permitValue,
        uint256 permitDeadline,
        bytes calldata permitSignature,
        bytes calldata signature
    ) external;

    /// @notice Records, once and before the deadline, that the seller says it has delivered. Moves nothing.
    /// @param hire The terms.
    /// @param resultHash What was delivered.
    /// @param signature The seller's over EIP-712 `MarkDelivered(bytes32 escrowId,bytes32 resultHash)`; empty when the
    /// seller sends.
    function markDelivered(Hire calldata hire, bytes32 resultHash, bytes calldata signature) external;

    /// @notice Pays `amount - fee` to the payee and the fee to its recipient, by the buyer's word. Good as long as the
    /// money is held, after the deadline too: the buyer's word outranks the default.
    /// @param hire The terms.
    /// @param signature The buyer's over EIP-712 `Release(bytes32 escrowId)`; empty when the buyer sends.
    function release(Hire calldata hire, bytes calldata signature) external;

    /// @notice Pays `toSeller`, less its share of the fee (fee · toSeller / amount, rounded down), to the payee, that
    /// share to the fee's recipient, and the rest to the buyer, by the buyer's word.
    /// @param hire The terms.
    /// @param toSeller Atomic units; 0 < toSeller < amount.
    /// @param signature The buyer's over EIP-712 `Split(bytes32 escrowId,uint128 toSeller)`; empty when the buyer sends.
    function split(Hire calldata hire, uint128 toSeller, bytes calldata signature) external;

    /// @notice Pays `amount` back to the buyer, by the word of the buyer, the seller (giving up), or the hire's arbiter.
    /// @param hire The terms.
    /// @param signer Whose word.
    /// @param signature The signer's over EIP-712 `Refund(bytes32 escrowId,address signer)`; empty when the signer sends.
    function refund(Hire calldata hire, address signer, bytes calldata signature) external;

    /// @notice Pays `amount` back to the buyer, from the deadline on. Anyone may call.
    /// @param hire The terms.
    function timeoutRefund(Hire calldata hire) external;

    /// @notice Many calls of this contract in one transaction, each as if the sender had made it: the same rights, no
    /// more and no less. An item that fails changes nothing, is reported ({ItemFailed}) and does not stop the others.
    /// @dev Each item gets exactly `gasEach` gas, so what comes before it can neither starve it nor spare it anything. Before
    /// an item that cannot be given as much the batch ends, without an error, with {BatchStopped}: unless
    /// gasleft() > 20,000 and (gasleft() − 20,000) / 64 · 63 ≥ gasEach. A payment that a token refuses becomes a credit only
    /// if its item has gas for it: with less than about 260,000 such an item fails. 500,000 is plenty, 1,000,000 where
    /// a contract wallet has to verify. Calls that are no array of bytes revert.
    /// @param calls The calls, encoded: any function of this contract but this one.
    /// @param gasEach Gas for each.
    /// @return tried How many items were tried, done or failed.
    function batch(bytes[] calldata calls, uint256 gasEach) external returns (uint256 tried);

    /// @notice Pays an account its credit. Anyone may call; the money goes to nobody else.
    /// @param account Whose credit.
    function withdraw(address account) external;

    /// @notice Stops deposits, and nothing else, for a time. Only the guardian. A new pause replaces the one before.
    /// @param duration Seconds from now, 1 to 30 days.
    function pause(uint256 duration) external;

    /// @notice Ends a pause. Only the guardian.
    function unpause() external;

    /// @notice The token held.
    function token() external view returns (address);

    /// @notice Who may pause deposits: a multisig.
    function guardian() external view returns (address);

    /// @notice The provider's id, as in the payment mode `platform_escrow:ID`.
    function providerId() external view returns (string memory);

    /// @notice The EIP-712 digest of a hire, which is its name here and the nonce of its ERC-3009 authorization.
    function escrowId(Hire calldata hire) external view returns (bytes32);

    /// @notice What is stored of a hire.
    function stateOf(bytes32 id) external view returns (State memory);

    /// @notice What an account can {withdraw}, in atomic units.
    function credit(address account) external view returns (uint256);

    /// @notice Unix seconds at which the pause ends; deposits are possible from then on (0: never paused).
    function pausedUntil() external view returns (uint256);
}
