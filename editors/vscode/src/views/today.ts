// The sessions of the day, newest first.

import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Memory } from '../memory';
import { label } from '../plain';
import type { Session } from '../replies';
import type { Trouble } from '../trouble';
import { List } from './list';

/** What the states of `recall list --json` are called, and their icons. */
const STATES: Record<string, { words: string; icon: string }> = {
  running: { words: 'running', icon: 'sync' },
  so_far: { words: 'so far', icon: 'circle-large-outline' },
  waiting: { words: 'waits for the next digest', icon: 'watch' },
  digested: { words: 'digested', icon: 'check' },
  no_digest: { words: 'no digest', icon: 'circle-slash' },
};

export class Today extends List<Session> {
  constructor(
    private readonly memory: Memory,
    trouble: Trouble,
  ) {
    super(trouble);
  }

  protected async load(signal: AbortSignal): Promise<{ items: Session[]; message?: string }> {
    const items = await this.memory.today(signal);
    return { items, message: items.length === 0 ? 'No sessions today yet.' : undefined };
  }

  getTreeItem(session: Session): vscode.TreeItem {
    const state = STATES[session.state] ?? { words: label(session.state), icon: 'circle-outline' };
    const item = new vscode.TreeItem(label(session.title) || session.id);
    item.id = session.id;
    item.description = `${session.when.slice(-5)} · ${label(path.basename(session.project), 40)}`;
    item.tooltip = [label(session.title, 400), label(session.project), `${session.when}, ${label(session.agent)}, ${state.words}`].join('\n');
    item.iconPath = new vscode.ThemeIcon(state.icon);
    item.contextValue = 'session';
    item.command = { command: 'recall.showSession', title: 'Show session', arguments: [session.id] };
    return item;
  }
}
