// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title HireEscrow
/// @notice Holds a buyer's money for one hire. The buyer can release the money. The buyer, the seller or the arbiter
/// can refund it. From the deadline on, anyone can send it back to the buyer. There is one deployment per token and
/// provider. The contract has no owner and cannot be upgraded. Only accounts that the hire names can receive its money.
/// A new version is a new deployment, and hires in the old deployment are settled there.
///
/// The name of a hire is its `escrowId`: the EIP-712 digest of all its terms in this contract's domain. All signatures
/// that this contract accepts are over this id, and the nonce of the token's authorization is this id. So whoever signs
/// agrees to these terms, on this chain and in this contract. A signature for one hire is worth nothing for another
/// hire.
///
/// An escrowId can be deposited only once. `hireId` is the buyer's own number for a hire. The buyer's address is one of
/// the terms. So two buyers can use the same `hireId`, and nobody can take the `hireId` of another buyer.
///
/// A buyer must not use one `hireId` for two hires with different terms, but this contract does not prevent it. Both
/// hires need the buyer's signature, and the money of both can go back at their deadlines. A second storage slot could
/// prevent it, but would cost every hire 22,100 gas.
///
/// The held money is safe under these assumptions about the token:
///  1. `balanceOf` tells the truth.
///  2. The balance of this contract falls only by transfers that this contract makes.
/// A transfer may fail, return false, move a part of its amount, or call back. This contract measures every deposit and
/// payment by its balance. A deposit must bring exactly its amount. What a payment does not move becomes a credit
/// ({withdraw}). A payment that takes more than its amount reverts.
///
/// Everybody is paid in time (liveness) under these further assumptions about the token:
///  3. The token is not paused forever, and does not block this contract.
///  4. A transfer takes at most 200,000 gas. A transfer that needs more becomes a credit, and {withdraw} pays it
///     without a gas limit.
///  5. A transfer takes at most its amount from the sender.
///  6. For {depositWithAuthorization}: the token has ERC-3009's `receiveWithAuthorization` in the form that takes
///     `bytes signature`.
///
/// There is one assumption about the chain:
///  7. The chain keeps its id. If the chain splits and one side changes its id, earlier hires can be settled only on
///     the other side.
interface IHireEscrow {
    /// @notice The terms of a hire. They travel in calldata and can be rebuilt from {Deposited}.
    /// @param hireId The buyer's number for this hire.
    /// @param buyer Who pays, and who gets all refunds.
    /// @param seller The agent that is hired.
    /// @param payee Who receives the seller's money; the zero address means the seller.
    /// @param amount Atomic units of the token, including the fee.
    /// @param fee The part of `amount` that feeRecipient gets; at most `amount`.
    /// @param feeRecipient Receives the fee. It can be the zero address only if the fee is zero.
    /// @param deadline Unix seconds. Delivery can be marked before this time. From this time on, anyone can send the
    /// money back.
    /// @param arbiter Can refund the buyer; the zero address means that there is no arbiter.
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

    /// @notice How far a hire has come. Every status except None and Held is final.
    enum Status {
        None,
        Held,
        Released,
        Split,
        Refunded,
        TimedOut
    }

    /// @notice Everything that is stored about a hire, in one storage slot.
    /// @param status How far the hire has come.
    /// @param delivered Whether the seller marked delivery in time.
    /// @param amount Atomic units that are held for the hire now; zero unless the status is Held.
    struct State {
        Status status;
        bool delivered;
        uint128 amount;
    }

    /// @notice The contract now holds `amount` for this hire. The event contains all terms of the hire.
    /// @param escrowId The hire.
    /// @param buyer Who paid.
    /// @param seller The agent that is hired.
    /// @param hireId The buyer's number for it.
    /// @param payee Who receives the seller's money, as signed; the zero address means the seller.
    /// @param amount Atomic units that are held.
    /// @param fee The part of `amount` that feeRecipient gets.
    /// @param feeRecipient Receives the fee.
    /// @param deadline Unix seconds from which anyone can send the money back.
    /// @param arbiter Can refund the buyer; the zero address means that there is no arbiter.
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

    /// @notice The seller says that it has delivered. No money moves.
    /// @param escrowId The hire.
    /// @param resultHash The seller's hash of the result that it says it delivered.
    event Delivered(bytes32 indexed escrowId, bytes32 resultHash);

    /// @notice The buyer released all of the money, or divided it by a split.
    /// @param escrowId The hire.
    /// @param buyer Its buyer.
    /// @param seller Its seller.
    /// @param toSeller The seller's part, before the fee.
    /// @param toBuyer The part that went back to the buyer.
    /// @param fee The part of toSeller that went to feeRecipient.
    event Released(
        bytes32 indexed escrowId,
        address indexed buyer,
        address indexed seller,
        uint128 toSeller,
        uint128 toBuyer,
        uint128 fee
    );

    /// @notice All of the money went back to the buyer, because the buyer, the seller or the arbiter refunded it.
    /// @param escrowId The hire.
    /// @param buyer Its buyer.
    /// @param seller Its seller.
    /// @param amount Atomic units.
    /// @param by Who refunded: the buyer, the seller, or the hire's arbiter.
    event Refunded(
        bytes32 indexed escrowId, address indexed buyer, address indexed seller, uint128 amount, address by
    );

    /// @notice All of the money went back to the buyer because the deadline passed.
    /// @param escrowId The hire.
    /// @param buyer Its buyer.
    /// @param seller Its seller.
    /// @param amount Atomic units.
    /// @param delivered Whether the seller had marked delivery.
    event TimedOut(
        bytes32 indexed escrowId, address indexed buyer, address indexed seller, uint128 amount, bool delivered
    );

    /// @notice The token did not make a payment, or made only a part of it. The account can {withdraw} the rest.
    /// @param account Whose money it is.
    /// @param escrowId The hire that the money comes from.
    /// @param amount Atomic units that were not paid.
    event Credited(address indexed account, bytes32 indexed escrowId, uint256 amount);

    /// @notice An account's credit was paid to it.
    /// @param account Who was paid.
    /// @param amount Atomic units.
    event Withdrawn(address indexed account, uint256 amount);

    /// @notice Deposits are paused.
    /// @param until Unix seconds at which the pause ends without an {unpause}.
    event Paused(uint256 until);

    /// @notice The guardian ended the pause: deposits are possible again.
    event Unpaused();

    /// @notice One item of a batch failed and changed nothing. The batch went on with the next item.
    /// @param index Position of the item in the batch's calls, from 0.
    /// @param reason The first 256 bytes of the error that the item returned. Empty if the item ran out of gas.
    event ItemFailed(uint256 index, bytes reason);

    /// @notice A batch ended before this item, because too little gas was left to give the item its gas.
    /// @param index Position of the first item that was not tried, from 0.
    event BatchStopped(uint256 index);

    /// @notice Only the account `expected` can do this.
    error NotAuthorized(address actual, address expected);
    /// @notice Only the buyer, the seller, or the arbiter that the hire names can refund.
    error NotAParty(address signer);
    /// @notice The signature is not a signature of `signer` over these terms.
    error InvalidSignature(address signer);
    /// @notice The hire does not have the status that this call needs.
    error WrongStatus(bytes32 escrowId, Status actual, Status expected);
    /// @notice Delivery can be marked only once.
    error AlreadyDelivered(bytes32 escrowId);
    /// @notice The amount must not be zero.
    error AmountIsZero();
    /// @notice The fee is a part of the amount, so it must not be larger.
    error FeeAboveAmount(uint128 fee, uint128 amount);
    /// @notice A fee needs a recipient.
    error FeeWithoutRecipient(uint128 fee);
    /// @notice A hire needs a seller.
    error SellerIsZero();
    /// @notice The buyer must be neither the seller nor the payee.
    error BuyerPaysItself(address buyer);
    /// @notice Money that is paid to this contract or to the token itself would be lost.
    error ForbiddenRecipient(address recipient);
    /// @notice This contract itself cannot be the buyer, the seller or the arbiter of a hire.
    error EscrowIsParty();
    /// @notice Too late: `time` has reached the deadline.
    error DeadlinePassed(uint256 time, uint256 deadline);
    /// @notice Too early: `time` has not reached the deadline.
    error DeadlineNotReached(uint256 time, uint256 deadline);
    /// @notice A split must give something to both sides: 0 < toSeller < amount.
    error SplitOutOfRange(uint128 toSeller, uint128 amount);
    /// @notice The balance of this contract did not change by exactly the amount.
    error AmountMoved(uint256 actual, uint256 expected);
    /// @notice Deposits are paused.
    error DepositsPaused(uint256 time, uint256 until);
    /// @notice A pause must last from 1 to `limit` seconds.
    error PauseLength(uint256 actual, uint256 limit);
    /// @notice The account has no credit.
    error NothingToWithdraw(address account);
    /// @notice A batch cannot be an item of a batch.
    error BatchInBatch();
    /// @notice The transaction has too little gas. If less gas were enough, a sender could make somebody's payment fail
    /// on purpose.
    error NotEnoughGas(uint256 actual, uint256 limit);
    /// @notice The token must be a contract.
    error TokenWithoutCode(address token);
    /// @notice The guardian must not be the zero address.
    error GuardianIsZero();
    /// @notice The provider id must have 1 to `limit` bytes.
    error ProviderIdLength(uint256 actual, uint256 limit);

    /// @notice Deposits the money for a hire by allowance. The sender must be the buyer.
    /// @param hire The terms.
    function deposit(Hire calldata hire) external;

    /// @notice Deposits the money for a hire by the buyer's ERC-3009 authorization. Anyone can send it, and it makes no
    /// difference who sends it first.
    /// @dev The authorization is
    /// `ReceiveWithAuthorization(buyer, this contract, amount, validAfter, validBefore, nonce)` in the token's domain.
    /// Its nonce is the escrowId. So one signature pays for the hire and fixes its terms.
    /// @param hire The terms.
    /// @param validAfter Unix seconds after which the authorization is valid.
    /// @param validBefore Unix seconds before which the authorization is valid.
    /// @param signature The buyer's signature: 65 bytes, ERC-1271, or ERC-6492 of a deployed wallet. The token gets the
    /// signature without the ERC-6492 wrapper.
    function depositWithAuthorization(
        Hire calldata hire,
        uint256 validAfter,
        uint256 validBefore,
        bytes calldata signature
    ) external;

    /// @notice Deposits the money for a hire by an ERC-2612 permit. Anyone can send it.
    /// @dev The permit may fail. If somebody sent the permit to the token before, the allowance is already there.
    /// @param hire The terms.
    /// @param permitValue The allowance that the permit grants.
    /// @param permitDeadline Unix seconds until which the permit is valid.
    /// @param permitSignature The buyer's signature over the permit, which names this contract as the spender. Empty to
    /// use an existing allowance.
    /// @param signature The buyer's signature over the hire (EIP-712 `Hire`). Empty if the buyer sends the transaction.
    function depositWithPermit(
        Hire calldata hire,
        uint256 permitValue,
        uint256 permitDeadline,
        bytes calldata permitSignature,
        bytes calldata signature
    ) external;

    /// @notice Records that the seller says that it has delivered. It works once, and only before the deadline. No
    /// money moves.
    /// @param hire The terms.
    /// @param resultHash The seller's hash of what it delivered.
    /// @param signature The seller's signature over EIP-712 `MarkDelivered(bytes32 escrowId,bytes32 resultHash)`. Empty
    /// if the seller sends the transaction.
    function markDelivered(Hire calldata hire, bytes32 resultHash, bytes calldata signature) external;

    /// @notice Pays `amount - fee` to the payee and the fee to its recipient. Needs the buyer's consent. The buyer can
    /// release as long as the money is held, even after the deadline.
    /// @param hire The terms.
    /// @param signature The buyer's signature over EIP-712 `Release(bytes32 escrowId)`. Empty if the buyer sends the
    /// transaction.
    function release(Hire calldata hire, bytes calldata signature) external;

    /// @notice Divides the money into three parts. Needs the buyer's consent. The fee's recipient gets `feeShare`,
    /// which is fee · toSeller / amount, rounded down. The payee gets `toSeller - feeShare`. The buyer gets
    /// `amount - toSeller`.
    /// @param hire The terms.
    /// @param toSeller Atomic units; 0 < toSeller < amount.
    /// @param signature The buyer's signature over EIP-712 `Split(bytes32 escrowId,uint128 toSeller)`. Empty if the
    /// buyer sends the transaction.
    function split(Hire calldata hire, uint128 toSeller, bytes calldata signature) external;

    /// @notice Pays `amount` back to the buyer. Needs the consent of the buyer, the seller or the hire's arbiter.
    /// @param hire The terms.
    /// @param signer Who consents.
    /// @param signature The signer's signature over EIP-712 `Refund(bytes32 escrowId,address signer)`. Empty if the
    /// signer sends the transaction.
    function refund(Hire calldata hire, address signer, bytes calldata signature) external;

    /// @notice Pays `amount` back to the buyer. Anyone can call this, from the deadline on.
    /// @param hire The terms.
    function timeoutRefund(Hire calldata hire) external;

    /// @notice Makes many calls of this contract in one transaction. Each call is an item of the batch, and has the
    /// same rights as if the sender made it alone. An item that fails changes nothing, and is reported by {ItemFailed}.
    /// The batch then goes on with the next item.
    /// @dev Each item gets exactly `gasEach` gas, so the items before it cannot change what it gets. Before each item,
    /// this must be true: gasleft() > 20,000 and (gasleft() − 20,000) / 64 · 63 ≥ gasEach. If it is not true, the batch
    /// ends with {BatchStopped}, and without an error.
    /// With less than about 260,000 gas, an item fails if the token refuses a payment. With more gas, the payment
    /// becomes a credit. 500,000 gas are enough for an item, or 1,000,000 if a contract wallet must verify a signature.
    /// The batch reverts if `calls` is not correctly encoded.
    /// @param calls The encoded calls: any function of this contract except this one.
    /// @param gasEach The gas for each item.
    /// @return tried How many items were tried. It counts items that succeeded and items that failed.
    function batch(bytes[] calldata calls, uint256 gasEach) external returns (uint256 tried);

    /// @notice Pays an account its credit. Anyone can call this, and the money goes only to the account.
    /// @param account Whose credit.
    function withdraw(address account) external;

    /// @notice Stops deposits for a time, and nothing else. Only the guardian can call this. A new pause replaces the
    /// old one.
    /// @param duration Length of the pause in seconds: at least 1 second, at most 30 days.
    function pause(uint256 duration) external;

    /// @notice Ends a pause. Only the guardian can call this.
    function unpause() external;

    /// @notice The token that this contract holds.
    function token() external view returns (address);

    /// @notice The account that can pause deposits. It should be a multisig.
    function guardian() external view returns (address);

    /// @notice The provider's id, as in the payment mode `platform_escrow:ID`.
    function providerId() external view returns (string memory);

    /// @notice The EIP-712 digest of a hire. It is the name of the hire in this contract, and the nonce of its ERC-3009
    /// authorization.
    function escrowId(Hire calldata hire) external view returns (bytes32);

    /// @notice What is stored about a hire.
    function stateOf(bytes32 id) external view returns (State memory);

    /// @notice What an account can {withdraw}, in atomic units.
    function credit(address account) external view returns (uint256);

    /// @notice Unix seconds at which the pause ends. From then on, deposits are possible. It is 0 if there was no
    /// pause, or if the guardian ended it.
    function pausedUntil() external view returns (uint256);
}
