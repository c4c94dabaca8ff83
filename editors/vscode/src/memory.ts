// What the extension asks of the program, by name. It keeps nothing but which project a folder belongs to.
//
// Text of the user or of a transcript always stands after `--`, as one argument.

import { Failure, type Call, type Recall } from './recall';
import * as replies from './replies';

export const MOST_OF_NOTE = 2000;

type Signal = AbortSignal | undefined;

export class Memory {
  private readonly projects = new Map<string, string>();

  constructor(private readonly recall: Pick<Recall, 'run'>) {}

  async today(signal?: Signal): Promise<replies.Session[]> {
    return replies.sessions(await this.ask(['list', '--json', '--since', 'today', '--limit', '200'], { signal }));
  }

  async latest(signal?: Signal): Promise<replies.Session[]> {
    return replies.sessions(await this.ask(['list', '--json', '--limit', '50'], { signal }));
  }

  async openItems(folder: string, signal?: Signal): Promise<replies.OpenItem[]> {
    const project = await this.projectOf(folder, signal);
    return replies.openItems(await this.ask(['todo', '--json'], { signal }), project);
  }

  async status(signal?: Signal): Promise<replies.Status> {
    return replies.status(await this.ask(['status', '--json'], { signal }));
  }

  /** Results of the project of `folder` come first. */
  async search(words: string, limit: number, folder?: string, signal?: Signal): Promise<replies.Result[]> {
    return replies.results(await this.ask(['search', '--json', '--limit', String(limit), '--', words], { folder, signal }));
  }

  /** Passages on a topic, quoted: the model is never asked. */
  async topic(about: string, folder?: string, signal?: Signal): Promise<string> {
    const args = ['context', '--json', '--summarizer', 'extract', `--about=${about}`];
    return replies.topic(await this.ask(args, { folder, signal }));
  }

  async remember(text: string, folder: string): Promise<replies.Kept> {
    if (text === '-') throw new Failure('failed', 'A note needs a text.');
    return replies.kept(await this.ask(['remember', '--json', '--project', folder, '--', text], { folder }));
  }

  async close(id: string): Promise<void> {
    await this.ask(['close', checked(id)]);
  }

  async reopen(id: string): Promise<void> {
    await this.ask(['close', '--undo', checked(id)]);
  }

  /** A session as on its page, or a note, in markdown. */
  show(id: string, signal?: Signal): Promise<string> {
    return this.ask(['show', '--full', checked(id)], { signal });
  }

  /** `day` is `today` (if it has no page yet: the newest day that has one) or a date such as 2026-01-31. */
  day(day: string, signal?: Signal): Promise<string> {
    return this.ask(['day', checked(day)], { signal });
  }

  private async projectOf(folder: string, signal: Signal): Promise<string> {
    const known = this.projects.get(folder);
    if (known !== undefined) return known;
    const found = replies.project(await this.ask(['context', '--json', '--cwd', folder, '--max-tokens', '1'], { signal }));
    this.projects.set(folder, found);
    return found;
  }

  private ask(args: string[], more: Omit<Call, 'args'> = {}): Promise<string> {
    return this.recall.run({ args, ...more });
  }
}

/** An id or a date, which may stand where the program expects options too. */
function checked(id: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(id)) throw new Failure('failed', 'This is not an id of a session or an item.');
  return id;
}
