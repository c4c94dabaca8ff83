// The folder whose project the views and commands are about: that of the active editor, else the first of the window.

import * as vscode from 'vscode';

export function currentFolder(): string | undefined {
  const active = vscode.window.activeTextEditor?.document.uri;
  const own = active && vscode.workspace.getWorkspaceFolder(active);
  const folder = own ?? vscode.workspace.workspaceFolders?.[0];
  return folder?.uri.scheme === 'file' ? folder.uri.fsPath : undefined;
}
