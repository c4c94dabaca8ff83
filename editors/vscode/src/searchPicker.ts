// Search as you type: a quick pick whose results come from the program, and then stand in the view Search.

import * as vscode from 'vscode';
import { currentFolder } from './folder';
import { Lane } from './lane';
import type { Memory } from './memory';
import { label } from './plain';
import { Failure } from './recall';
import type { Result } from './replies';
import type { Trouble } from './trouble';
import { iconOf } from './views/results';

const PAUSE = 200;
const LIMIT = 30;

interface Row extends vscode.QuickPickItem {
  result: Result;
}

export interface Doors {
  memory: Memory;
  trouble: Trouble;
  /** The results that were on screen when the picker closed. */
  onFound(words: string, results: Result[]): void;
  onChosen(result: Result): void;
}

let lastWords = '';

export function searchPicker(doors: Doors): void {
  const picker = vscode.window.createQuickPick<Row>();
  const lane = new Lane();
  let found: { words: string; results: Result[] } | undefined;
  let pause: NodeJS.Timeout | undefined;

  const search = async (words: string) => {
    picker.busy = true;
    try {
      const results = await lane.run((signal) => doors.memory.search(words, LIMIT, currentFolder(), signal));
      found = { words, results };
      picker.items = results.map(rowOf);
      picker.busy = false;
    } catch (error) {
      // The search that superseded this one is still busy.
      if (error instanceof Failure && error.kind === 'cancelled') return;
      picker.busy = false;
      picker.hide();
      doors.trouble.tell(error);
    }
  };

  picker.placeholder = 'Words, "phrases" and filters: project:shop kind:decision since:30d';
  picker.onDidChangeValue((value) => {
    clearTimeout(pause);
    lane.cancel();
    picker.busy = false;
    const words = value.trim();
    if (words === '') {
      found = undefined;
      picker.items = [];
    } else {
      pause = setTimeout(() => void search(words), PAUSE);
    }
  });
  picker.onDidAccept(() => {
    const chosen = picker.selectedItems[0];
    picker.hide();
    if (chosen) doors.onChosen(chosen.result);
  });
  picker.onDidHide(() => {
    clearTimeout(pause);
    lane.cancel();
    if (found) {
      lastWords = found.words;
      doors.onFound(found.words, found.results);
    }
    picker.dispose();
  });
  picker.value = lastWords;
  picker.show();
  if (lastWords !== '') void search(lastWords);
}

/** The program has chosen already, so the quick pick must not filter once more. */
function rowOf(result: Result): Row {
  return {
    label: `$(${iconOf(result)}) ${label(result.title, 100) || result.id}`,
    description: result.day,
    detail: label(result.passage, 200),
    alwaysShow: true,
    result,
  };
}
