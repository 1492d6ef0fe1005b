/** Written by `npm run freeze`. */
export const anchoredLedger1 = {
  name: "AnchoredLedger, version 1",
  initCodeHash: "0x45f9a0efc260e9a6b39de6399847251715a0f8660b9684755eb319f2afaa16a7",
  runtime: { hash: "0x8dd103eb8fb92e521018f80c853d8cabe139d342667cbd4467c9d48ba6f1a3fd", length: 9632 },
  immutables: {
    _cachedChainId: [9015],
    _cachedDomainSeparator: [8832],
    _cachedThis: [8785],
    _hashedName: [8911],
    _hashedVersion: [8949],
    _name: [1858],
    _version: [1899],
  },
};
