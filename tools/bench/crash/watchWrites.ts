import fs from "node:fs";
import fsPromises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import sqlite, { type DatabaseSync, type StatementSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

/** One call that may change what is on the disk. */
export type DiskWrite = {
  /** The function's name, such as `appendFile` or `sqlite exec`. */
  name: string;
  /** The paths that the call may change. A path of a database also stands for SQLite's files next to it. */
  paths: string[];
  /** The data, if the call appends to the file. */
  appends?: Buffer;
  /** Whether the call empties the file first. */
  empties?: boolean;
  /** Whether the call syncs what it writes, by the option `flush`. */
  flushes?: boolean;
  /** The database, if the call belongs to one. */
  database?: DatabaseSync;
};

export type DiskWatch = {
  /** Whether a path is watched. */
  watches: (path: string) => boolean;
  /** Called before a write, which waits for it. */
  before: (write: DiskWrite) => Promise<void>;
  /** Called before a synchronous write, which cannot wait. */
  beforeSync: (write: DiskWrite) => void;
  /** Called after a write. */
  done: (write: DiskWrite) => void;
  /** Called after a failed write. */
  failed?: (write: DiskWrite) => void;
  /** The contents for the file with the machine's boot id. */
  bootId?: () => string | undefined;
};

// biome-ignore lint/suspicious/noExplicitAny: functions of every shape are replaced by ones of the same shape
type Any = any;
type Functions = { [name: string]: Any };

/**
 * Functions that do not change a disk. Every other function of Node counts as a write, so that new and rare
 * functions are not missed.
 */
const READS = new Set(
  [
    "access exists stat lstat fstat statfs read readv readFile readdir readlink realpath opendir openAsBlob glob",
    "watch watchFile unwatchFile createReadStream createWriteStream close readLines readableWebStream getAsyncId",
  ].flatMap((names) => names.split(" ")),
);

/** Calls that name two paths. */
const OF_TWO = new Set(["rename", "copyFile", "cp", "link", "symlink"]);

/** Methods of a database that do not change its file. */
const DATABASE_READS = new Set(
  "constructor location prepare function aggregate setAuthorizer serialize createTagStore enableDefensive enableLoadExtension".split(
    " ",
  ),
);

/** Flags of `open` that neither make nor empty a file. */
const READING_FLAGS: unknown[] = [
  undefined,
  "r",
  "rs",
  "r+",
  "rs+",
  fs.constants.O_RDONLY,
  fs.constants.O_RDWR,
];

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/**
 * Reports every write of this process to a disk, through Node's file system or its SQLite, until it is stopped.
 * Only one watch may run at a time.
 *
 * It does not see writes by native add-ons, other processes and threads.
 * @returns a function that stops the watch
 */
export async function watchWrites(watch: DiskWatch): Promise<() => void> {
  const undo: (() => void)[] = [];
  const handle = await fsPromises.open(fileURLToPath(import.meta.url));
  const handles = Object.getPrototypeOf(handle) as Functions;
  await handle.close();

  const replace = (target: Functions, name: string, by: (original: Any) => Any): void => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name);
    if (typeof descriptor?.value !== "function" || !descriptor.writable) return;
    const original = descriptor.value;
    target[name] = by(original);
    undo.push(() => {
      target[name] = original;
    });
  };
  const { writeOf, remember } = nameWrites(watch);

  /** The replacement of a function that returns a promise. */
  const promised = (name: string, isHandles: boolean) => (original: Any) =>
    async function (this: FileHandle, ...args: unknown[]): Promise<unknown> {
      const write = writeOf(name, args, isHandles ? this : undefined);
      if (write === undefined) {
        const result = await original.apply(this, args);
        remember(name, args[0], result);
        return result;
      }
      await watch.before(write);
      try {
        const result = await original.apply(this, args);
        remember(name, args[0], result);
        watch.done(write);
        return result;
      } catch (error) {
        watch.failed?.(write);
        throw error;
      }
    };
  const synchronous = (name: string, write: DiskWrite | undefined, make: () => unknown, args: unknown[]) => {
    if (write) watch.beforeSync(write);
    try {
      const result = make();
      remember(name, args[0], result);
      if (write) watch.done(write);
      return result;
    } catch (error) {
      if (write) watch.failed?.(write);
      throw error;
    }
  };
  /** The replacement of a function that passes its result to a callback, its last argument. */
  const called = (name: string) => (original: Any) =>
    function (this: unknown, ...args: unknown[]): unknown {
      const write = writeOf(name, args);
      const callback = args.at(-1);
      if (typeof callback !== "function") return original.apply(this, args);
      const answer = (error: unknown, ...results: unknown[]): void => {
        remember(name, args[0], results[0]);
        if (write) error ? watch.failed?.(write) : watch.done(write);
        callback(error, ...results);
      };
      const make = () => original.apply(this, [...args.slice(0, -1), answer]);
      return write === undefined ? make() : void watch.before(write).then(make);
    };

  const isCounted = (name: string): boolean =>
    /^[a-z]/.test(name) && !READS.has(name.replace(/Sync$/, "")) && name !== "constructor";
  for (const name of Object.keys(fsPromises).filter(isCounted))
    replace(fsPromises as Functions, name, promised(name, false));
  for (const name of Object.getOwnPropertyNames(handles).filter(isCounted))
    replace(handles, name, promised(name, true));
  for (const name of Object.keys(fs).filter(isCounted)) {
    if (!name.endsWith("Sync")) replace(fs as Functions, name, called(name));
    else
      replace(
        fs as Functions,
        name,
        (original) =>
          (...args: unknown[]) =>
            synchronous(name, writeOf(name.slice(0, -4), args), () => original(...args), args),
      );
  }
  replace(fs as Functions, "readFileSync", (original) => (at: unknown, ...rest: unknown[]) => {
    const bootId = at === BOOT_ID ? watch.bootId?.() : undefined;
    return bootId ?? original(at, ...rest);
  });

  watchSqlite(watch, replace);
  syncBuiltinESMExports();
  return () => {
    for (const one of undo) one();
    syncBuiltinESMExports();
  };
}

/** Decides which calls are writes, and remembers the file of each handle or descriptor. */
function nameWrites(watch: DiskWatch) {
  const files = new WeakMap<object, string>();
  const descriptors = new Map<number, string>();
  const pathOf = (value: unknown): string | undefined => {
    if (typeof value === "string") return path.resolve(value);
    if (typeof value === "number") return descriptors.get(value);
    if (value instanceof URL) return fileURLToPath(value);
    if (Buffer.isBuffer(value)) return path.resolve(value.toString());
    return typeof value === "object" && value !== null ? files.get(value) : undefined;
  };
  const writeOf = (name: string, args: unknown[], own?: unknown): DiskWrite | undefined => {
    const [target, ...rest] = own === undefined ? args : [own, ...args];
    const named = OF_TWO.has(name) ? [target, rest[0]] : [target];
    const paths = named.map(pathOf).filter((at) => at !== undefined && watch.watches(at)) as string[];
    if (paths.length === 0) return undefined;
    if (name === "open" && READING_FLAGS.includes(rest[0])) return undefined;
    const appends = ["appendFile", "writeFile"].includes(name) ? bytesOf(rest[0]) : undefined;
    const empties = name === "writeFile" && own === undefined && typeof target !== "number";
    const flushes = rest.some((one) => (one as { flush?: boolean } | null)?.flush === true);
    return { name, paths, flushes, empties, ...(appends && { appends }) };
  };
  const remember = (name: string, given: unknown, opened: unknown): void => {
    const at = name === "open" || name === "openSync" ? pathOf(given) : undefined;
    if (at === undefined) return;
    if (typeof opened === "number") descriptors.set(opened, at);
    else if (typeof opened === "object" && opened !== null) files.set(opened, at);
  };
  return { writeOf, remember };
}

function watchSqlite(
  watch: DiskWatch,
  replace: (target: Functions, name: string, by: (original: Any) => Any) => void,
): void {
  const owners = new WeakMap<StatementSync, DatabaseSync>();
  /** Set while a listener runs. The listener may query the database, and such a query must not be reported. */
  let isTelling = false;
  const tell = (work: () => void): void => {
    isTelling = true;
    try {
      work();
    } finally {
      isTelling = false;
    }
  };
  const counted = (name: string, database: DatabaseSync | undefined, work: () => unknown): unknown => {
    const at = database?.isOpen && !isTelling ? database.location() : null;
    if (database === undefined || at === null || !watch.watches(at)) return work();
    const write: DiskWrite = { name: `sqlite ${name}`, paths: [at], database };
    tell(() => watch.beforeSync(write));
    try {
      return work();
    } finally {
      tell(() => watch.done(write));
    }
  };
  const databases = sqlite.DatabaseSync.prototype as Functions;
  const probe = new sqlite.DatabaseSync(":memory:");
  const statements = Object.getPrototypeOf(probe.prepare("SELECT 1")) as Functions;
  probe.close();
  for (const name of Object.getOwnPropertyNames(databases).filter((it) => !DATABASE_READS.has(it))) {
    replace(
      databases,
      name,
      (original) =>
        function (this: DatabaseSync, ...args: unknown[]) {
          return counted(name, this, () => original.apply(this, args));
        },
    );
  }
  replace(
    databases,
    "prepare",
    (original) =>
      function (this: DatabaseSync, ...args: unknown[]) {
        const statement = original.apply(this, args);
        owners.set(statement, this);
        return statement;
      },
  );
  for (const name of ["run", "get", "all", "iterate"]) {
    replace(
      statements,
      name,
      (original) =>
        function (this: StatementSync, ...args: unknown[]) {
          const isReading = /^\s*SELECT\b/i.test(this.sourceSQL);
          return counted(name, isReading ? undefined : owners.get(this), () => original.apply(this, args));
        },
    );
  }
}

function bytesOf(data: unknown): Buffer | undefined {
  if (typeof data === "string") return Buffer.from(data);
  return data instanceof Uint8Array ? Buffer.from(data) : undefined;
}
