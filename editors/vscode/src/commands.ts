// The commands. Each one says what it did, or why it did not.

import * as vscode from 'vscode';
import { currentFolder } from './folder';
import { type Memory, MOST_OF_NOTE } from './memory';
import type { Pages } from './pages';
import { label } from './plain';
import type { OpenItem } from './replies';
import { searchPicker } from './searchPicker';
import type { Trouble } from './trouble';
import { kindOf, localDay } from './views/openItems';
import type { Results } from './views/results';

export interface Parts {
  memory: Memory;
  trouble: Trouble;
  pages: Pages;
  results: Results;
  /** Asks for everything that is on screen again. */
  refresh(): void;
}

export function registerCommands(parts: Parts): vscode.Disposable {
  const { pages, trouble, refresh } = parts;
  const commands: Record<string, (argument?: unknown) => unknown> = {
    'recall.search': () => search(parts),
    'recall.showSession': (id) => showSession(parts, id),
    'recall.remember': () => remember(parts),
    'recall.closeItem': (item) => closeItem(parts, item),
    'recall.openToday': () => pages.open({ day: 'today' }),
    'recall.refresh': refresh,
  };
  const registered = Object.entries(commands).map(([name, work]) =>
    vscode.commands.registerCommand(name, async (argument?: unknown) => {
      try {
        await work(argument);
      } catch (error) {
        trouble.tell(error);
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

function search({ memory, trouble, results, pages }: Parts): void {
  searchPicker({
    memory,
    trouble,
    onFound: (words, found) => results.show(words, found),
    onChosen: (result) => {
      if (result.kind === 'memory_file') void vscode.commands.executeCommand('recall.results.focus');
      else void pages.open({ id: result.id });
    },
  });
}

async function showSession({ memory, pages }: Parts, id: unknown): Promise<void> {
  if (typeof id === 'string') return pages.open({ id });
  const rows = memory.latest().then((found) =>
    found.map((session) => ({ label: label(session.title, 100) || session.id, description: label(session.when), id: session.id })),
  );
  const chosen = await vscode.window.showQuickPick(rows, { placeHolder: 'Which session?', matchOnDescription: true });
  if (chosen) await pages.open({ id: chosen.id });
}

async function remember({ memory, refresh }: Parts): Promise<void> {
  const folder = currentFolder();
  if (folder === undefined) {
    void vscode.window.showWarningMessage('recall: open a folder first: a note belongs to the project of a folder.');
    return;
  }
  const editor = vscode.window.activeTextEditor;
  const selected = editor ? editor.document.getText(editor.selection) : '';
  const text = await vscode.window.showInputBox({
    title: 'Remember for this project',
    prompt: 'New sessions of your agents can get this note.',
    // A page of this extension has invisible spaces: see plain.ts.
    value: selected.replaceAll('\u200b', '').replace(/\s+/g, ' ').trim(),
    ignoreFocusOut: true,
    validateInput: noteTrouble,
  });
  if (text === undefined || noteTrouble(text) !== undefined) return;
  const { id, known } = await memory.remember(text.trim(), folder);
  refresh();
  void vscode.window.showInformationMessage(known ? `recall: note ${label(id)} says it already.` : `recall: kept as note ${label(id)}.`);
}

export function noteTrouble(text: string): string | undefined {
  const length = [...text.trim()].length;
  if (length === 0 || text.trim() === '-') return 'A note needs a text.';
  return length > MOST_OF_NOTE ? `A note has at most ${MOST_OF_NOTE} characters; this has ${length}.` : undefined;
}

async function closeItem({ memory, trouble, refresh }: Parts, argument: unknown): Promise<void> {
  const id = isItem(argument) ? argument.id : await pickOpenItem(memory);
  if (id === undefined) return;
  await memory.close(id);
  refresh();
  const undo = 'Undo';
  const answer = await vscode.window.showInformationMessage(`recall: closed ${label(id)}.`, undo);
  if (answer !== undo) return;
  await memory.reopen(id).catch((error: unknown) => trouble.tell(error));
  refresh();
}

async function pickOpenItem(memory: Memory): Promise<string | undefined> {
  const folder = currentFolder();
  if (folder === undefined) {
    void vscode.window.showWarningMessage('recall: open a folder first: open items belong to the project of a folder.');
    return undefined;
  }
  const items = await memory.openItems(folder);
  if (items.length === 0) {
    void vscode.window.showInformationMessage('recall: nothing is open in this project.');
    return undefined;
  }
  const rows = items.map((item) => ({
    label: label(item.text, 100) || item.id,
    description: `${kindOf(item).words} · ${localDay(item.lastAt)}`,
    id: item.id,
  }));
  const chosen = await vscode.window.showQuickPick(rows, { placeHolder: 'Which item is done?' });
  return chosen?.id;
}

/** Other extensions and key bindings can call a command with anything. */
function isItem(argument: unknown): argument is Pick<OpenItem, 'id'> {
  return typeof argument === 'object' && argument !== null && typeof (argument as { id?: unknown }).id === 'string';
}
