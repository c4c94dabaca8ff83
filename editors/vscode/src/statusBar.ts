// The status bar: what is open here and what waits for a digest; hidden while there is nothing of either, and while the program gives no answer.

import * as vscode from 'vscode';
import { currentFolder } from './folder';
import { Lane } from './lane';
import type { Memory } from './memory';
import { Failure } from './recall';
import type { OpenItem, Status } from './replies';
import type { Trouble } from './trouble';

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('recall.status', vscode.StatusBarAlignment.Left, 0);
  private readonly lane = new Lane();

  constructor(
    private readonly memory: Memory,
    private readonly trouble: Trouble,
  ) {
    this.item.name = 'recall';
    this.item.command = 'recall.openItems.focus';
  }

  async refresh(): Promise<void> {
    const folder = currentFolder();
    try {
      const [status, open] = await this.lane.run(async (signal) => {
        const said = await this.memory.status(signal);
        // Before the first digest there is no index to ask.
        const asked = folder !== undefined && said.lastDigest !== undefined;
        return [said, asked ? await this.memory.openItems(folder, signal) : []] as const;
      });
      this.show(status, open);
    } catch (error) {
      if (error instanceof Failure && error.kind === 'cancelled') return;
      this.trouble.explain(error);
      this.item.hide();
    }
  }

  dispose(): void {
    this.lane.cancel();
    this.item.dispose();
  }

  private show(status: Status, open: OpenItem[]): void {
    const text = statusText(status, open.length);
    if (text === undefined) return this.item.hide();
    this.item.text = `$(history) ${text}`;
    this.item.tooltip = statusTooltip(status, open.length);
    this.item.show();
  }
}

export function statusText(status: Status, open: number): string | undefined {
  const said = [];
  if (open > 0) said.push(`${open} open`);
  if (status.waitingForDigest > 0) said.push(`${status.waitingForDigest} waiting`);
  if (status.failing > 0) said.push(`${status.failing} failing`);
  return said.length > 0 ? said.join(', ') : undefined;
}

export function statusTooltip(status: Status, open: number): string {
  const last = status.lastDigest === undefined ? 'never' : new Date(status.lastDigest).toLocaleString();
  return [
    `recall: ${counted(open, 'open item', 'open items')} in this project`,
    `${counted(status.waitingForDigest, 'session has', 'sessions have')} lines that no digest covers yet`,
    ...(status.waitingForModel > 0 ? [`${counted(status.waitingForModel, 'digest waits', 'digests wait')} for the model`] : []),
    ...(status.failing > 0 ? [`The model failed on ${counted(status.failing, 'session', 'sessions')}: see recall status`] : []),
    `Last digest: ${last}`,
  ].join('\n');
}

function counted(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}
