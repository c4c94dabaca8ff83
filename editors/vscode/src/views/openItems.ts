// What is open in the project of the current folder, as `recall todo` gives it.

import * as vscode from 'vscode';
import { currentFolder } from '../folder';
import type { Memory } from '../memory';
import { label } from '../plain';
import type { OpenItem } from '../replies';
import type { Trouble } from '../trouble';
import { List } from './list';

const KINDS: Record<string, { words: string; icon: string }> = {
  next: { words: 'next step', icon: 'arrow-right' },
  blocker: { words: 'blocker', icon: 'error' },
  todo: { words: 'todo', icon: 'note' },
};

export class OpenItems extends List<OpenItem> {
  constructor(
    private readonly memory: Memory,
    trouble: Trouble,
  ) {
    super(trouble);
  }

  protected async load(signal: AbortSignal): Promise<{ items: OpenItem[]; message?: string }> {
    const folder = currentFolder();
    if (folder === undefined) return { items: [], message: 'Open a folder to see what is open in its project.' };
    const items = await this.memory.openItems(folder, signal);
    return { items, message: items.length === 0 ? 'Nothing is open in this project.' : undefined };
  }

  getTreeItem(item: OpenItem): vscode.TreeItem {
    const kind = kindOf(item);
    const row = new vscode.TreeItem(label(item.text) || item.id);
    row.id = item.id;
    row.description = `${kind.words} · ${localDay(item.lastAt)}`;
    row.tooltip = `${label(item.text, 2000)}\n${kind.words} ${item.id}`;
    row.iconPath = new vscode.ThemeIcon(kind.icon);
    row.contextValue = 'openItem';
    return row;
  }
}

export function kindOf(item: OpenItem): { words: string; icon: string } {
  return KINDS[item.kind] ?? { words: label(item.kind, 20), icon: 'circle-outline' };
}

/** The local day of a time in milliseconds, such as 2026-01-31. */
export function localDay(at: number): string {
  const day = new Date(at);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
