// Runs the program: the one door for all calls.
//
// Every call is a child process without a shell, with a deadline and a bound on its output, and can be cancelled. stdin is closed.

import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';

/** The oldest version whose replies this extension reads. */
export const OLDEST = [0, 1, 0] as const;

export type Kind = 'missing' | 'old' | 'deadline' | 'too_much' | 'cancelled' | 'failed';

/** Why a call gave no answer. `message` says what to do where something can be done; it may quote the program. */
export class Failure extends Error {
  constructor(
    readonly kind: Kind,
    message: string,
  ) {
    super(message);
  }
}

export interface Call {
  args: string[];
  /** The folder in which to run; without one, or if it does not exist, the home folder. */
  folder?: string;
  /** Milliseconds; default 20 000. */
  deadline?: number;
  /** Bound on stdout, and on stderr; default 8 MiB. */
  maxBytes?: number;
  signal?: AbortSignal;
}

/** `locate` gives the absolute path of the program. */
export class Recall {
  private checked?: { program: string; answer: Promise<void> };

  constructor(private readonly locate: () => Promise<string | undefined>) {}

  /** What the program wrote to stdout. Exit code 1 (something was skipped) counts as an answer. */
  async run(call: Call): Promise<string> {
    try {
      return await start(await this.usable(), call);
    } catch (error) {
      // The check of the version is shared between calls, so that no single call can cancel it.
      throw call.signal?.aborted ? cancelled() : error;
    }
  }

  /** The path of the program, once its version is known to be new enough. */
  async usable(): Promise<string> {
    const program = await this.locate();
    if (!program) throw new Failure('missing', 'The program recall was not found.');
    if (this.checked?.program !== program) {
      const answer = checkVersion(program);
      this.checked = { program, answer };
      answer.catch(() => this.forgetVersion());
    }
    await this.checked?.answer;
    return program;
  }

  /** Asks for the version again at the next call. */
  forgetVersion(): void {
    this.checked = undefined;
  }
}

async function checkVersion(program: string): Promise<void> {
  const said = await start(program, { args: ['--version'], deadline: 10_000, maxBytes: 4096 });
  const found = /^recall (\d+)\.(\d+)\.(\d+)/.exec(said);
  if (!found) throw new Failure('old', `${program} is not a program recall that this extension knows.`);
  const version = found.slice(1).map(Number);
  if (isOlder(version, OLDEST)) {
    throw new Failure('old', `recall ${version.join('.')} is too old: this extension needs ${OLDEST.join('.')} or newer.`);
  }
}

export function isOlder(version: readonly number[], than: readonly number[]): boolean {
  for (const [place, least] of than.entries()) {
    const part = version[place] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

async function start(program: string, call: Call): Promise<string> {
  const cwd = await folderOf(call.folder);
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted) return reject(cancelled());
    const child = spawn(program, call.args, { cwd, shell: false, windowsHide: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const bound = call.maxBytes ?? 8 * 1024 * 1024;
    const [out, err] = [new Collected(bound), new Collected(bound)];
    let why: Failure | undefined;
    let last: NodeJS.Timeout | undefined;
    const stop = (reason: Failure) => {
      if (why) return;
      why = reason;
      // Closed here, so that a child of the program that outlives it cannot keep the call open.
      child.stdout.destroy();
      child.stderr.destroy();
      child.kill('SIGTERM');
      last = setTimeout(() => child.kill('SIGKILL'), 1000);
    };
    const onAbort = () => stop(cancelled());
    const deadline = setTimeout(() => stop(new Failure('deadline', 'recall gave no answer in time.')), call.deadline ?? 20_000);
    call.signal?.addEventListener('abort', onAbort, { once: true });
    for (const [stream, collected] of [[child.stdout, out], [child.stderr, err]] as const) {
      stream.on('data', (bytes: Buffer) => {
        if (!collected.add(bytes)) stop(new Failure('too_much', 'The answer of recall is too long to show.'));
      });
    }
    const end = (settle: () => void) => {
      clearTimeout(deadline);
      clearTimeout(last);
      call.signal?.removeEventListener('abort', onAbort);
      settle();
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      const gone = error.code === 'ENOENT' || error.code === 'EACCES';
      end(() => reject(new Failure(gone ? 'missing' : 'failed', `recall could not be started: ${error.message}`)));
    });
    child.on('close', (code) => {
      end(() => {
        if (why) reject(why);
        else if (code === 0 || code === 1) resolve(out.text());
        else reject(failed(err.text(), code));
      });
    });
  });
}

async function folderOf(folder: string | undefined): Promise<string> {
  const there = folder !== undefined && (await stat(folder).then((found) => found.isDirectory(), () => false));
  return there ? folder : homedir();
}

function cancelled(): Failure {
  return new Failure('cancelled', 'The call was cancelled.');
}

/** An argument that the program does not know means that it is older than this extension. */
function failed(stderr: string, code: number | null): Failure {
  if (/^error: (unrecognized subcommand|unexpected argument)/m.test(stderr)) {
    return new Failure('old', 'The installed recall is too old for this extension.');
  }
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const said = lines.findLast((line) => /^(recall|error): /.test(line)) ?? lines.at(-1);
  return new Failure('failed', said?.replace(/^(recall|error): /, '') ?? `recall ended with code ${code}.`);
}

class Collected {
  private readonly parts: Buffer[] = [];
  private size = 0;

  constructor(private readonly bound: number) {}

  /** `false` once the bound is passed; what is beyond it is dropped. */
  add(bytes: Buffer): boolean {
    this.size += bytes.length;
    if (this.size > this.bound) return false;
    this.parts.push(bytes);
    return true;
  }

  text(): string {
    return Buffer.concat(this.parts).toString('utf8');
  }
}
