import type {
  CapabilityInput,
  CapabilityOutput,
  CapabilityTypes,
} from "tallystick-capabilities/capabilityTypes";

/**
 * Does the work of one capability: `params` and the result have the capability's types. `signal` is aborted when
 * the buyer stops waiting. If it throws, the buyer pays nothing.
 */
export type Handler<Id extends string = string> = (
  params: CapabilityInput<Id>,
  context: HandlerContext,
) => CapabilityOutput<Id> | Promise<CapabilityOutput<Id>>;

export type HandlerContext = {
  capability: string;
  buyer: string;
  hireId: string;
  signal: AbortSignal;
};

/** The handlers, by capability. For `custom.*`, the seller's own schemas give the types. */
export type Handlers = {
  [Id in keyof CapabilityTypes]?: Handler<Id>;
} & { [id: `custom.${string}`]: Handler };
