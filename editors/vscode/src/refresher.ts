// When to ask again: when the window gets the focus, when another folder becomes the current one, and every few minutes while it has the focus.

import * as vscode from 'vscode';
import { currentFolder } from './folder';

const EVERY = 5 * 60_000;
const LEAST_BETWEEN = 30_000;

export function refreshWhileUsed(refresh: () => void): vscode.Disposable {
  let last = Date.now();
  let folder = currentFolder();
  const again = (least: number) => {
    if (!vscode.window.state.focused || Date.now() - last < least) return;
    last = Date.now();
    refresh();
  };
  const timer = setInterval(() => again(EVERY / 2), EVERY);
  return vscode.Disposable.from(
    { dispose: () => clearInterval(timer) },
    vscode.window.onDidChangeWindowState(() => again(LEAST_BETWEEN)),
    vscode.window.onDidChangeActiveTextEditor(() => {
      if (currentFolder() === folder) return;
      folder = currentFolder();
      again(0);
    }),
  );
}
