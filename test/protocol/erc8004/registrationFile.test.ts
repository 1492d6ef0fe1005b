import { expect } from "chai";
import {
  parseRegistrationFile,
  REGISTRATION_TYPE,
  registrationContent,
} from "tallystick-protocol/erc8004/registrationFile";
import { InvalidInputError } from "tallystick-protocol/errors";

const registrations = [{ agentId: 7, agentRegistry: `eip155:8453:0x${"80".repeat(20)}` }];

describe("the registration file of an agent", () => {
  it("lists each endpoint for hires twice, and other services between them", () => {
    const content = registrationContent({
      name: "Ada",
      description: "Translates.",
      image: "https://a.example/ada.png",
      hire: [
        { endpoint: "https://a.example/hire", capabilities: ["text.translate", "text.summarize"] },
        { endpoint: "https://b.example/hire", capabilities: [] },
      ],
      services: [{ name: "MCP", endpoint: "https://a.example/mcp", version: "2025-11-25" }],
      registrations,
    });
    expect(content).to.deep.equal({
      type: REGISTRATION_TYPE,
      name: "Ada",
      description: "Translates.",
      image: "https://a.example/ada.png",
      services: [
        {
          name: "SHP",
          endpoint: "https://a.example/hire",
          version: "0.3",
          capabilities: ["text.translate", "text.summarize"],
        },
        { name: "SHP", endpoint: "https://b.example/hire", version: "0.3", capabilities: [] },
        { name: "MCP", endpoint: "https://a.example/mcp", version: "2025-11-25" },
        { name: "x402", endpoint: "https://a.example/hire", version: "2" },
        { name: "x402", endpoint: "https://b.example/hire", version: "2" },
      ],
      x402Support: true,
      active: true,
      registrations,
      supportedTrust: ["reputation"],
    });
    expect(parseRegistrationFile(content).registrations).to.deep.equal([
      { agentId: 7, agentRegistry: { chainId: 8_453, address: `0x${"80".repeat(20)}` } },
    ]);
  });

  it("says that an agent without endpoints takes no payment, and is active only if it has other services", () => {
    const bare = { name: "Ada", description: "", hire: [], registrations: [] };
    expect(registrationContent(bare)).to.deep.equal({
      type: REGISTRATION_TYPE,
      name: "Ada",
      description: "",
      services: [],
      x402Support: false,
      active: false,
      registrations: [],
      supportedTrust: ["reputation"],
    });
    const services = [{ name: "MCP", endpoint: "https://a.example/mcp" }];
    expect(registrationContent({ ...bare, services })).to.include({ x402Support: false, active: true });
  });

  it("is refused with the name of each wrong field", () => {
    const content = registrationContent({ name: "", description: "", hire: [], registrations });
    try {
      parseRegistrationFile({ ...content, type: "other" });
      expect.fail("it was read");
    } catch (error) {
      expect(error).to.be.instanceOf(InvalidInputError);
      expect((error as InvalidInputError).issues).to.deep.equal([
        { field: "type", message: `must be "${REGISTRATION_TYPE}"` },
        { field: "name", message: "must not be empty" },
      ]);
    }
  });
});
