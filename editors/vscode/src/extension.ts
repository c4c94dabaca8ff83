// Wires the parts together. Nothing here asks the program; the parts do, when they are shown.

import * as vscode from 'vscode';
import { Memory } from './memory';
import { findProgram } from './program';
import { Recall } from './recall';
import { Trouble } from './trouble';
import { Today } from './views/today';

export function activate(context: vscode.ExtensionContext): void {
  const recall = new Recall(() => findProgram(vscode.workspace.getConfiguration('recall').get('path', 'recall')));
  const memory = new Memory(recall);
  const trouble = new Trouble();
  const today = new Today(memory, trouble);
  context.subscriptions.push(today.open('recall.today'));
}
