/** Query a node: search, reputations, receipts, and GraphQL with typed answers. */
export type {
  AsOf,
  ClusterAnswer,
  ListingsAnswer,
  Offer,
  Page,
  ParamsAnswer,
  ReceiptAnswer,
  ReceiptsAnswer,
  ReputationAnswer,
  SearchAnswer,
  SearchRequest,
  SearchResult,
} from "./query/answers.ts";
export type * as graphql from "./query/createGraphqlClient.ts";
export { createQueryClient, type QueryClient } from "./query/createQueryClient.ts";
export { type Fetch, ServiceError } from "./requestService.ts";
