/** A signed trust report (STEWARD, T017): what `GET /v1/agents/{id}/trust-report` answers. */
export type TrustReport = {
  trust_report: {
    /** The agent's address, lower case. */
    agent_id: string;
    [field: string]: unknown;
    verification: TrustReportVerification;
  };
};

/** How to check a report: compare `public_key` with the node's agent card. */
export type TrustReportVerification = {
  algorithm: "Ed25519";
  /** 128 hex digits. */
  signature: string;
  /** `sha256:` and the SHA-256 of the public key, 64 hex digits. */
  signed_by: string;
  /** 64 hex digits. */
  public_key: string;
  /** The URL at which the node names its key. The signature does not cover it. */
  verification_url: string;
};
