// Pages of days, sessions and notes as documents that cannot be edited: `recall:/day/today.md`, `recall:/show/ID.md`.
//
// A page is asked for whenever it is opened and kept nowhere. Its text passes through `plain.page`.

import * as vscode from 'vscode';
import type { Memory } from './memory';
import { page } from './plain';
import type { Trouble } from './trouble';

export const SCHEME = 'recall';

/** `id` is that of a session or a note. */
export type Page = { day: string } | { id: string };

export class Pages implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly memory: Memory,
    private readonly trouble: Trouble,
  ) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  async open(wanted: Page): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: pathOf(wanted) });
    this.changed.fire(uri);
    try {
      await vscode.commands.executeCommand('markdown.showPreview', uri);
    } catch {
      // Without the built-in extension for markdown, the text itself.
      await vscode.window.showTextDocument(uri, { preview: true });
    }
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const wanted = pageAt(uri.path);
    if (!wanted) return 'There is no such page.';
    const cancel = new AbortController();
    const listening = token.onCancellationRequested(() => cancel.abort());
    try {
      const text = 'day' in wanted ? await this.memory.day(wanted.day, cancel.signal) : await this.memory.show(wanted.id, cancel.signal);
      return page(withoutHeader(text));
    } catch (error) {
      return page(this.trouble.explain(error) ?? 'Cancelled.');
    } finally {
      listening.dispose();
    }
  }
}

/** VS Code 1.139 shows the YAML at the top of a page as a table above the title; 1.100 hides it. */
function withoutHeader(markdown: string): string {
  return markdown.replace(/^---\n[^]*?\n---\n\s*/, '');
}

function pathOf(wanted: Page): string {
  return 'day' in wanted ? `/day/${wanted.day}.md` : `/show/${wanted.id}.md`;
}

/** The page at a path; links between pages lead to paths such as `/day/sessions/2026-01-31-shop-64b0b6d9.md`. */
export function pageAt(path: string): Page | undefined {
  const day = /^(?:\/day)?\/(today|\d{4}-\d{2}-\d{2})\.md$/.exec(path)?.[1];
  if (day) return { day };
  const id = /\/(?:sessions\/[\w-]+-|show\/)([0-9A-Za-z]+[0-9A-Za-z-]*)\.md$/.exec(path)?.[1];
  return id ? { id } : undefined;
}
