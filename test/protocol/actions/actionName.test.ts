import { expect } from "chai";
import { actionName, DEFAULT_ACTION } from "tallystick-protocol/actions/actionName";
import { programName } from "tallystick-protocol/actions/programName";

describe("the name of an action", () => {
  it("is the same for names that look the same", () => {
    for (const name of [
      "delete_all",
      "Delete All",
      "DELETE--ALL",
      "  delete.all!  ",
      "_delete__all_",
      "delete\u200b_all",
      "dele\u0301te/a\u00ad11",
      "d\u0435l\u0435t\u0435_\u0430ll",
      "\uff44elete_all",
      "de\u0000lete_al\ufe0fl",
    ])
      expect(actionName(name), JSON.stringify(name)).to.equal("delete_all");
  });

  it("is another one for other words, and letters of every alphabet count", () => {
    expect(actionName("deleteall")).to.equal("deleteall");
    expect(actionName("\u5220\u9664 2")).to.equal("\u5220\u9664_2");
  });

  it("is the star for the rule of all other actions, and for nothing else", () => {
    expect(actionName(DEFAULT_ACTION)).to.equal("*");
    expect(actionName(" * ")).to.equal("");
    expect(actionName("**")).to.equal("");
  });
});

describe("the name of a program", () => {
  it("stands behind the last slash of its path", () => {
    expect(["ls", "/ls", "/usr/bin/ls", "/usr/bin/"].map(programName)).to.deep.equal(["ls", "ls", "ls", ""]);
  });
});
