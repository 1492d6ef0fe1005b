import { open } from "node:fs/promises";
import type { AppendTarget } from "../../../services/settlement/ledger/appendFile.ts";

/** The faults of the next writes. */
export type Faults = {
  /** The number of bytes that still fit. A longer write writes these bytes, and then fails with ENOSPC. */
  free: number;
  /** Every write and cut is refused with EROFS. */
  readOnly: boolean;
  /** fsync fails with EIO. */
  syncFails: boolean;
};

/** A real file on a disk with configurable faults, for `openFile` of a ledger. */
export function faultyDisk(): { faults: Faults; openFile: (filePath: string) => Promise<AppendTarget> } {
  const faults: Faults = { free: Number.POSITIVE_INFINITY, readOnly: false, syncFails: false };
  const fail = (code: string, what: string): never => {
    throw Object.assign(new Error(`${code}: ${what}`), { code });
  };
  return {
    faults,
    openFile: async (filePath) => {
      const file = await open(filePath, "a+");
      return {
        fd: file.fd,
        read: file.read.bind(file),
        stat: file.stat.bind(file),
        close: file.close.bind(file),
        truncate: async (length) => {
          if (faults.readOnly) fail("EROFS", "read-only file system, ftruncate");
          await file.truncate(length);
        },
        datasync: async () => {
          if (faults.syncFails) fail("EIO", "i/o error, fdatasync");
          await file.datasync();
        },
        appendFile: async (data) => {
          const bytes = data as Buffer;
          if (faults.readOnly) fail("EROFS", "read-only file system, write");
          const fits = bytes.subarray(0, Math.max(0, Math.min(bytes.length, faults.free)));
          await file.appendFile(fits);
          faults.free -= fits.length;
          if (fits.length < bytes.length) fail("ENOSPC", "no space left on device, write");
        },
      } as AppendTarget;
    },
  };
}
