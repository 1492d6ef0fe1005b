import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { isReachableBy, postgresUser } from "../../../scripts/postgres/osUser.ts";

const users: Record<string, { uid: number; gid: number }> = {
  postgres: { uid: 101, gid: 104 },
  nobody: { uid: 65534, gid: 65534 },
};

describe("scripts/postgres/osUser", () => {
  it("keeps an ordinary user", () => {
    expect(postgresUser(1000, (name) => users[name])).to.equal(undefined);
  });

  it("changes from root to postgres, or to nobody if there is no such user", () => {
    expect(postgresUser(0, (name) => users[name])).to.deep.equal(users.postgres);
    expect(postgresUser(0, (name) => (name === "nobody" ? users.nobody : undefined))).to.deep.equal(
      users.nobody,
    );
  });

  it("gives advice if there is no user to change to", () => {
    expect(() => postgresUser(0, () => undefined))
      .to.throw(TallystickError)
      .that.includes({ code: "no_os_user" });
  });

  describe("isReachableBy", () => {
    const postgres = { uid: 101, gid: 104 };
    const root = { uid: 0, gid: 0 };
    const tree = (files: Record<string, { mode: number; uid: number; gid: number }>) => (file: string) => {
      const stat = files[file];
      if (!stat) throw new Error(`ENOENT ${file}`);
      return stat;
    };

    it("needs every parent folder to be open", () => {
      const open = tree({
        "/": { mode: 0o755, ...root },
        "/a": { mode: 0o711, ...root },
        "/a/b": { mode: 0o755, ...root },
      });
      expect(isReachableBy(postgres, "/a/b", open)).to.equal(true);
      const shut = tree({
        "/": { mode: 0o755, ...root },
        "/a": { mode: 0o700, ...root },
        "/a/b": { mode: 0o755, ...root },
      });
      expect(isReachableBy(postgres, "/a/b", shut)).to.equal(false);
    });

    it("judges by owner, then group, then others, as the system does", () => {
      const at = (stat: { mode: number; uid: number; gid: number }) =>
        tree({ "/": { mode: 0o755, ...root }, "/a": stat });
      expect(isReachableBy(postgres, "/a", at({ mode: 0o500, uid: 101, gid: 0 }))).to.equal(true);
      expect(isReachableBy(postgres, "/a", at({ mode: 0o050, uid: 0, gid: 104 }))).to.equal(true);
      expect(isReachableBy(postgres, "/a", at({ mode: 0o055, uid: 101, gid: 104 }))).to.equal(false);
    });

    it("is false for a missing file", () => {
      expect(isReachableBy(postgres, "/nowhere", tree({}))).to.equal(false);
    });
  });
});
