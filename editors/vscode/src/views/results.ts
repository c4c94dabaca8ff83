// The results of the last search.

import * as vscode from 'vscode';
import { label } from '../plain';
import type { Result } from '../replies';

export class Results implements vscode.TreeDataProvider<Result> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private found: readonly Result[] = [];
  private view?: vscode.TreeView<Result>;

  open(id: string): vscode.Disposable {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
    return this.view;
  }

  show(words: string, found: readonly Result[]): void {
    this.found = found;
    if (this.view) {
      this.view.description = label(words, 60);
      this.view.message = found.length === 0 ? 'Nothing was found.' : undefined;
    }
    this.changed.fire();
  }

  getChildren(parent?: Result): Result[] {
    return parent ? [] : [...this.found];
  }

  getTreeItem(result: Result): vscode.TreeItem {
    const row = new vscode.TreeItem(label(result.title) || result.id);
    row.description = `${result.day} · ${result.foundIn.replaceAll('_', ' ')}`;
    row.tooltip = `${label(result.passage, 2000)}\n${label(result.project)} ${result.id}`;
    row.iconPath = new vscode.ThemeIcon(iconOf(result));
    if (result.kind !== 'memory_file') row.command = { command: 'recall.showSession', title: 'Show', arguments: [result.id] };
    return row;
  }
}

export function iconOf(result: Result): string {
  return { session: 'comment-discussion', note: 'note', memory_file: 'file' }[result.kind];
}
