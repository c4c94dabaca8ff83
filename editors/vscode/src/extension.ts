// Wires the parts together. The views ask the program when they are shown, and the status bar when the window opens.

import * as vscode from 'vscode';
import { registerChatTools } from './chatTools';
import { registerCommands } from './commands';
import { registerMcpServer } from './mcpServer';
import { Memory } from './memory';
import { optional } from './optional';
import { Pages } from './pages';
import { findProgram } from './program';
import { Recall } from './recall';
import { refreshWhileUsed } from './refresher';
import { StatusBar } from './statusBar';
import { Trouble } from './trouble';
import { OpenItems } from './views/openItems';
import { Results } from './views/results';
import { Today } from './views/today';

export function activate(context: vscode.ExtensionContext): void {
  const recall = new Recall(() => findProgram(vscode.workspace.getConfiguration('recall').get('path', 'recall')));
  const memory = new Memory(recall);
  const trouble = new Trouble();
  const pages = new Pages(memory, trouble);
  const today = new Today(memory, trouble);
  const openItems = new OpenItems(memory, trouble);
  const results = new Results();
  const statusBar = new StatusBar(memory, trouble);
  const programChanged = new vscode.EventEmitter<void>();

  const refresh = () => {
    today.refresh();
    openItems.refresh();
    void statusBar.refresh();
  };
  context.subscriptions.push(
    today.open('recall.today'),
    openItems.open('recall.openItems'),
    results.open('recall.results'),
    statusBar,
    pages.register(),
    registerCommands({ memory, trouble, pages, results, refresh }),
    optional('chat tools', () => registerChatTools(memory)),
    optional('MCP servers', () => registerMcpServer(recall, programChanged.event)),
    programChanged,
    refreshWhileUsed(refresh),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (!change.affectsConfiguration('recall.path')) return;
      recall.forgetVersion();
      trouble.forget();
      programChanged.fire();
      refresh();
    }),
  );
  void statusBar.refresh();
}
