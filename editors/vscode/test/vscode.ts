// The API of VS Code, as far as the extension uses it: what is registered and shown is kept in `editor`, where tests look at it and answer.

type Disposing = { dispose(): unknown };

export class Disposable {
  constructor(private readonly work: () => unknown) {}
  static from(...all: Disposing[]): Disposable {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
  dispose(): void {
    this.work();
  }
}

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => unknown>();
  readonly event = (listener: (value: T) => unknown): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };
  fire(value: T): void {
    this.listeners.forEach((listener) => listener(value));
  }
  dispose(): void {
    this.listeners.clear();
  }
}

interface Folder {
  uri: Uri;
}

/** What a test sets, and what it finds. */
export const editor = {
  folders: [] as Folder[],
  settings: {} as Record<string, unknown>,
  selection: undefined as string | undefined,
  /** The answer to the next input box, given the proposed value; and to the next message. */
  input: undefined as ((options: { value?: string }) => string | undefined) | undefined,
  press: undefined as string | undefined,
  pick: undefined as ((rows: { label: string }[]) => unknown) | undefined,
  messages: [] as string[],
  executed: [] as { command: string; args: unknown[] }[],
  commands: new Map<string, (argument?: unknown) => unknown>(),
  views: new Map<string, View>(),
  pickers: [] as QuickPick[],
  statusItems: [] as StatusItem[],
  contentProviders: new Map<string, unknown>(),
  tools: new Map<string, unknown>(),
  servers: new Map<string, unknown>(),
  configurationChanged: new EventEmitter<{ affectsConfiguration(key: string): boolean }>(),
};

export function reset(): void {
  Object.assign(editor, { folders: [], settings: {}, selection: undefined, input: undefined, press: undefined, pick: undefined });
  Object.assign(editor, { messages: [], executed: [], pickers: [], statusItems: [] });
  for (const map of [editor.commands, editor.views, editor.contentProviders, editor.tools, editor.servers]) map.clear();
}

export class View {
  message?: string;
  description?: string;
  constructor(readonly options: { treeDataProvider: unknown }) {}
  dispose(): void {}
}

export class StatusItem {
  name = '';
  text = '';
  tooltip?: string;
  command?: string;
  visible = false;
  show(): void {
    this.visible = true;
  }
  hide(): void {
    this.visible = false;
  }
  dispose(): void {}
}

export class QuickPick {
  value = '';
  placeholder = '';
  busy = false;
  items: { label: string; detail?: string; alwaysShow?: boolean }[] = [];
  selectedItems: unknown[] = [];
  readonly changedValue = new EventEmitter<string>();
  readonly accepted = new EventEmitter<void>();
  readonly hidden = new EventEmitter<void>();
  onDidChangeValue = this.changedValue.event;
  onDidAccept = this.accepted.event;
  onDidHide = this.hidden.event;
  show(): void {}
  hide(): void {
    this.hidden.fire();
  }
  dispose(): void {}
  type(value: string): void {
    this.value = value;
    this.changedValue.fire(value);
  }
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}
  static from(parts: { scheme: string; path: string }): Uri {
    return new Uri(parts.scheme, parts.path);
  }
  static file(path: string): Uri {
    return new Uri('file', path);
  }
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}:${this.path}`;
  }
}

export class TreeItem {
  [key: string]: unknown;
  constructor(readonly label: string) {}
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export const StatusBarAlignment = { Left: 1, Right: 2 };

export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}

export class LanguageModelToolResult {
  constructor(readonly content: LanguageModelTextPart[]) {}
}

export class McpStdioServerDefinition {
  cwd?: Uri;
  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: string[],
  ) {}
}

export const lm: Record<string, unknown> = {
  registerTool: (name: string, tool: unknown) => registered(editor.tools, name, tool),
  registerMcpServerDefinitionProvider: (id: string, provider: unknown) => registered(editor.servers, id, provider),
};

export const commands = {
  registerCommand: (name: string, work: (argument?: unknown) => unknown) => registered(editor.commands, name, work),
  executeCommand: async (command: string, ...args: unknown[]) => void editor.executed.push({ command, args }),
};

export const workspace = {
  get workspaceFolders() {
    return editor.folders;
  },
  getWorkspaceFolder: () => undefined,
  getConfiguration: (section: string) => ({ get: (key: string, otherwise: unknown) => editor.settings[`${section}.${key}`] ?? otherwise }),
  onDidChangeConfiguration: editor.configurationChanged.event,
  registerTextDocumentContentProvider: (scheme: string, provider: unknown) => registered(editor.contentProviders, scheme, provider),
};

const say = async (message: string, ...buttons: string[]) => {
  editor.messages.push(message);
  const pressed = buttons.find((button) => button === editor.press);
  editor.press = undefined;
  return pressed;
};

export const window = {
  state: { focused: true },
  get activeTextEditor() {
    if (editor.selection === undefined) return undefined;
    return { selection: {}, document: { uri: Uri.file('/text'), getText: () => editor.selection } };
  },
  createTreeView: (id: string, options: { treeDataProvider: unknown }) => {
    const view = new View(options);
    editor.views.set(id, view);
    return view;
  },
  createStatusBarItem: () => {
    const item = new StatusItem();
    editor.statusItems.push(item);
    return item;
  },
  createQuickPick: () => {
    const picker = new QuickPick();
    editor.pickers.push(picker);
    return picker;
  },
  showQuickPick: async (rows: Promise<{ label: string }[]>) => editor.pick?.(await rows),
  showInputBox: async (options: { value?: string }) => editor.input?.(options),
  showInformationMessage: say,
  showWarningMessage: say,
  showErrorMessage: say,
  showTextDocument: async () => undefined,
  onDidChangeWindowState: new EventEmitter<unknown>().event,
  onDidChangeActiveTextEditor: new EventEmitter<unknown>().event,
};

function registered<T>(map: Map<string, T>, name: string, value: T): Disposable {
  map.set(name, value);
  return new Disposable(() => map.delete(name));
}
