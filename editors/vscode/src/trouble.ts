// Says once, with what to do, that the program is missing or does not fit; other failures stand in the view that asked.

import * as vscode from 'vscode';
import { Failure } from './recall';
import { label } from './plain';

export class Trouble {
  private told = new Set<string>();

  /** What a view says about a failure; `undefined` for a call that was superseded. */
  explain(error: unknown): string | undefined {
    const failure = error instanceof Failure ? error : new Failure('failed', String(error));
    if (failure.kind === 'cancelled') return undefined;
    if (failure.kind === 'missing' || failure.kind === 'old') void this.tellOnce(failure);
    return label(failure.kind === 'missing' ? `${failure.message} Install it, or set recall.path.` : failure.message, 300);
  }

  /** For a command that the user gave: says it in any case. */
  tell(error: unknown): void {
    const failure = error instanceof Failure ? error : new Failure('failed', String(error));
    if (failure.kind === 'cancelled') return;
    if (failure.kind === 'missing' || failure.kind === 'old') {
      this.told.delete(failure.kind);
      void this.tellOnce(failure);
    } else {
      void vscode.window.showErrorMessage(`recall: ${label(failure.message, 300)}`);
    }
  }

  /** After the setting changed, it may be said once more. */
  forget(): void {
    this.told.clear();
  }

  private async tellOnce(failure: Failure): Promise<void> {
    if (this.told.has(failure.kind)) return;
    this.told.add(failure.kind);
    const advice =
      failure.kind === 'missing'
        ? 'Install it as its README says, or set `recall.path` to where it is.'
        : 'Install the newest version, or set `recall.path` to it.';
    const settings = 'Open setting';
    const answer = await vscode.window.showWarningMessage(`${label(failure.message, 300)} ${advice}`, settings);
    if (answer === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'recall.path');
  }
}
