// Says once, with what to do, that the program is missing or does not fit; other failures stand in the view that asked.

import * as vscode from 'vscode';
import { Failure } from './recall';
import { label } from './plain';

export class Trouble {
  private readonly told = new Set<string>();

  /** What a view says about a failure; `undefined` for a call that was superseded. */
  explain(error: unknown): string | undefined {
    const failure = asFailure(error);
    if (failure.kind === 'cancelled') return undefined;
    const what = advice(failure);
    if (what !== undefined) this.tellOnce(failure);
    return label(inFull(failure), 300);
  }

  /** For a command that the user gave: says it in any case. */
  tell(error: unknown): void {
    const failure = asFailure(error);
    if (failure.kind === 'cancelled') return;
    if (advice(failure) === undefined) void vscode.window.showErrorMessage(`recall: ${label(failure.message, 300)}`);
    else void this.offerSetting(failure, vscode.window.showErrorMessage);
  }

  /** After the setting changed, it may be said once more. */
  forget(): void {
    this.told.clear();
  }

  private tellOnce(failure: Failure): void {
    if (this.told.has(failure.kind)) return;
    this.told.add(failure.kind);
    void this.offerSetting(failure, vscode.window.showWarningMessage);
  }

  private async offerSetting(failure: Failure, show: (message: string, ...buttons: string[]) => Thenable<string | undefined>): Promise<void> {
    const settings = 'Open setting';
    const answer = await show(`${label(failure.message, 300)} ${advice(failure)}`, settings);
    if (answer === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'recall.path');
  }
}

function asFailure(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('failed', String(error));
}

/** A failure with what to do about it. */
export function inFull(failure: Failure): string {
  const what = advice(failure);
  return what === undefined ? failure.message : `${failure.message} ${what}`;
}

/** What to do, where the failure is about the program itself. */
function advice({ kind }: Failure): string | undefined {
  if (kind === 'missing') return 'Install it as its README says, or set recall.path to where it is.';
  if (kind === 'old') return 'Install the newest version, or set recall.path to it.';
  return undefined;
}
