// A view that lists the answer to one question. A newer question cancels the older one; a failure stands above what was shown last.

import * as vscode from 'vscode';
import { Lane } from '../lane';
import { Failure } from '../recall';
import type { Trouble } from '../trouble';

export abstract class List<T> implements vscode.TreeDataProvider<T> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly lane = new Lane();
  private shown: T[] = [];
  private view?: vscode.TreeView<T>;

  constructor(private readonly trouble: Trouble) {}

  /** What is listed, and a message above it. */
  protected abstract load(signal: AbortSignal): Promise<{ items: T[]; message?: string }>;

  abstract getTreeItem(item: T): vscode.TreeItem;

  /** Makes the view `id`; asks nothing until it is shown. */
  open(id: string): vscode.Disposable {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
    return vscode.Disposable.from(this.view, { dispose: () => this.lane.cancel() });
  }

  refresh(): void {
    this.changed.fire();
  }

  async getChildren(parent?: T): Promise<T[]> {
    if (parent !== undefined) return [];
    try {
      const { items, message } = await this.lane.run((signal) => this.load(signal));
      this.shown = items;
      this.say(message);
    } catch (error) {
      if (!(error instanceof Failure && error.kind === 'cancelled')) {
        this.shown = [];
        this.say(this.trouble.explain(error));
      }
    }
    return this.shown;
  }

  private say(message: string | undefined): void {
    if (this.view) this.view.message = message;
  }
}
