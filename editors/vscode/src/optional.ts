// What an editor may lack. An editor can also have an API and refuse it: VS Code 1.100 has that for MCP servers, but still under another name in the
// manifest, and throws. The rest of the extension must work all the same.

import * as vscode from 'vscode';

/** What `register` registers; nothing if it throws. */
export function optional(name: string, register: () => vscode.Disposable): vscode.Disposable {
  try {
    return register();
  } catch (error) {
    console.warn(`recall: this editor has no ${name}: ${error instanceof Error ? error.message : String(error)}`);
    return vscode.Disposable.from();
  }
}
