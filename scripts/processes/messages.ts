/** A process for the supervisor to run. */
export type ProcessSpec = {
  /** Unique among the processes of one supervisor, e.g. "settlement". */
  name: string;
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** The file for stdout and stderr. New output is appended. */
  logFile: string;
  /** When the log is emptied: above `bytes` bytes, checked every `everyMs` milliseconds. Default: never. */
  logLimit?: { bytes: number; everyMs: number };
  /** OS user to run as; only root can ask for another. */
  user?: { uid: number; gid: number };
  /**
   * The signals to end the process, in order. Each next signal is sent after `waitMs`, if the process still
   * runs. SIGKILL always follows at the end.
   */
  stop?: { signal: NodeJS.Signals; waitMs: number }[];
  /** Signal only the process itself, for servers that end their own children (Postgres). Default: its whole group. */
  stopAlone?: boolean;
};

/** A request of the owner to the supervisor. */
export type SupervisorRequest =
  | { id: number; kind: "start"; spec: ProcessSpec }
  | { id: number; kind: "stop"; name: string }
  | { id: number; kind: "remove-at-end"; path: string }
  | { id: number; kind: "close" };

/** How a process ended. */
export type ProcessExit = { name: string; pid: number; code: number | null; signal: NodeJS.Signals | null };

/** A message of the supervisor to its owner. */
export type SupervisorReply =
  | { kind: "ready" }
  | { kind: "done"; id: number; pid?: number }
  | { kind: "failed"; id: number; message: string }
  | ({ kind: "exit" } & ProcessExit);
