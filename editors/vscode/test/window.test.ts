// The whole extension in a window: activated with the API of test/vscode.ts and a stand-in for the program that answers from files.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { beforeEach, test, type TestContext } from 'node:test';
import { activate } from '../src/extension';
import { page } from '../src/plain';
import * as vscode from './vscode';
import { program, temporaryFolder } from './world';

const { editor } = vscode;
const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8'));

const SESSION = '{"session":"64b0b6d9","agent":"codex","project":"/home/me/shop","when":"2026-11-27 20:39","title":"Fix $(x)\\nlogin","state":"digested"}';
const RESULT = '{"note":"m1","project":"/home/me/shop","day":"2026-11-27","title":"Deploys","found_in":"note","passage":"Deploys go through CI"}';
const STATUS = { sessions: 3, waiting_for_digest: 2, waiting_for_model: 0, failing: [], last_run: { at: 1 } };

/** Activates in a window with one folder; the program answers `answers[COMMAND]` and writes down how it was called. */
function window(t: TestContext, answers: Record<string, string>, other: { version?: string; setting?: string } = {}) {
  const folder = temporaryFolder(t);
  const calls = path.join(folder, 'calls');
  for (const [command, answer] of Object.entries(answers)) writeFileSync(path.join(folder, `${command}.answer`), answer);
  const body = `{ for a in "$@"; do printf '%s\\0' "$a"; done; printf '\\n'; } >> '${calls}'\ncat "${folder}/$1.answer"`;
  const file = program(folder, body, other.version);
  editor.settings['recall.path'] = other.setting ?? file;
  editor.folders = [{ uri: vscode.Uri.file(folder) }];
  const context = { subscriptions: [] as { dispose(): void }[] };
  activate(context as never);
  t.after(() => context.subscriptions.forEach((one) => one.dispose()));
  const called = (): string[][] =>
    existsSync(calls) ? readFileSync(calls, 'utf8').split('\0\n').filter(Boolean).map((line) => line.split('\0')) : [];
  return { folder, called };
}

interface Provider {
  getChildren(): Promise<never[]>;
  getTreeItem(item: never): vscode.TreeItem;
}

const provider = (id: string) => editor.views.get(id)?.options.treeDataProvider as Provider;

async function rows(id: string): Promise<vscode.TreeItem[]> {
  return (await provider(id).getChildren()).map((item) => provider(id).getTreeItem(item));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((go) => setTimeout(go, 10));
}

const run = (command: string, argument?: unknown) => editor.commands.get(command)?.(argument);

beforeEach(() => vscode.reset());

test('what the manifest declares is registered, and the other way round', (t) => {
  window(t, {});
  const { contributes } = MANIFEST;
  assert.deepEqual([...editor.commands.keys()].sort(), contributes.commands.map((one: { command: string }) => one.command).sort());
  assert.deepEqual([...editor.views.keys()].sort(), contributes.views.recall.map((one: { id: string }) => one.id).sort());
  assert.deepEqual([...editor.tools.keys()].sort(), contributes.languageModelTools.map((one: { name: string }) => one.name).sort());
  assert.deepEqual([...editor.servers.keys()], contributes.mcpServerDefinitionProviders.map((one: { id: string }) => one.id));
});

test('a workspace cannot set the program', () => {
  assert.equal(MANIFEST.contributes.configuration.properties['recall.path'].scope, 'machine');
  assert.equal(MANIFEST.capabilities.virtualWorkspaces.supported, false);
});

test('Today lists sessions as plain text', async (t) => {
  window(t, { list: `${SESSION}\n` });
  const [row] = await rows('recall.today');
  assert.equal(row?.label, 'Fix $\u200b(x) login');
  assert.equal(row?.description, '20:39 · shop');
  assert.equal(typeof row?.tooltip, 'string');
  assert.deepEqual((row?.command as { arguments: unknown }).arguments, ['64b0b6d9']);
});

test('a view says why it is empty', async (t) => {
  window(t, { list: '' });
  assert.deepEqual(await rows('recall.today'), []);
  assert.equal(editor.views.get('recall.today')?.message, 'No sessions today yet.');
});

test('Open items are those of the project of the folder; Close closes one and can be undone', async (t) => {
  const todo = (project: string, id: string) =>
    `{"project":"${project}","items":[{"id":"${id}","kind":"next","text":"Write it","first_at":1,"last_at":2}]}\n`;
  const { called } = window(t, { context: '{"project":"/shop"}', todo: todo('/other', 'n1') + todo('/shop', 'n2'), close: '' });
  const items = await provider('recall.openItems').getChildren();
  assert.deepEqual(items.map((item: { id: string }) => item.id), ['n2']);
  editor.press = 'Undo';
  await run('recall.closeItem', items[0]);
  assert.deepEqual(called().filter(([command]) => command === 'close'), [['close', 'n2'], ['close', '--undo', 'n2']]);
});

test('an id that is an option is never given to the program', async (t) => {
  const { called } = window(t, { close: '' });
  await run('recall.closeItem', { id: '--undo' });
  assert.deepEqual(called().filter(([command]) => command === 'close'), []);
  assert.equal(editor.messages.length, 1);
});

test('the status bar shows what waits and what is open, and hides when there is nothing', async (t) => {
  const todo = '{"project":"/shop","items":[{"id":"n2","kind":"next","text":"x","first_at":1,"last_at":2}]}\n';
  const { folder } = window(t, { status: JSON.stringify(STATUS), context: '{"project":"/shop"}', todo });
  const [item] = editor.statusItems;
  await until(() => item?.visible === true);
  assert.equal(item?.text, '$(history) 1 open, 2 waiting');
  writeFileSync(path.join(folder, 'status.answer'), JSON.stringify({ ...STATUS, waiting_for_digest: 0 }));
  writeFileSync(path.join(folder, 'todo.answer'), '');
  run('recall.refresh');
  await until(() => item?.visible === false);
});

test('Remember proposes the selection and keeps what was confirmed, also if it begins with a dash', async (t) => {
  const { folder, called } = window(t, { remember: '{"id":"m1","known":false}' });
  editor.selection = 'two\n   \u200blines';
  editor.input = ({ value }) => `--json ${value}`;
  await run('recall.remember');
  const [call] = called().filter(([command]) => command === 'remember');
  assert.deepEqual(call, ['remember', '--json', '--project', folder, '--', '--json two lines']);
  editor.input = () => undefined;
  await run('recall.remember');
  editor.input = () => 'x'.repeat(2001);
  await run('recall.remember');
  assert.equal(called().filter(([command]) => command === 'remember').length, 1);
});

test('Search shows results while typing, and in the view afterwards', async (t) => {
  const { called } = window(t, { search: `${RESULT}\n` });
  run('recall.search');
  const [picker] = editor.pickers;
  picker?.type('-depl');
  picker?.type('--deploys');
  await until(() => (picker?.items.length ?? 0) > 0);
  assert.deepEqual(called().filter(([command]) => command === 'search').map((call) => call.slice(-2)), [['--', '--deploys']]);
  assert.equal(picker?.items[0]?.alwaysShow, true);
  picker?.hide();
  const [row] = await rows('recall.results');
  assert.equal(row?.label, 'Deploys');
  assert.equal(editor.views.get('recall.results')?.description, '--deploys');
});

test('a page opens in the preview and passes through plain.page', async (t) => {
  const text = '# <b>Day</b>\n![x](https://example.com/x.png)\n';
  const { called } = window(t, { show: `---\ndate: 2026-11-27\n---\n\n${text}`, day: text });
  await run('recall.showSession', '64b0b6d9');
  await run('recall.openToday');
  const opened = editor.executed.filter(({ command }) => command === 'markdown.showPreview').map(({ args }) => args[0] as vscode.Uri);
  assert.deepEqual(opened.map(String), ['recall:/show/64b0b6d9.md', 'recall:/day/today.md']);
  const content = editor.contentProviders.get('recall') as { provideTextDocumentContent(uri: vscode.Uri, token: unknown): Promise<string> };
  const token = { onCancellationRequested: new vscode.EventEmitter().event };
  const read = (at: string) => content.provideTextDocumentContent(vscode.Uri.from({ scheme: 'recall', path: at }), token);
  assert.equal(await read('/show/64b0b6d9.md'), page(text));
  assert.equal(await read('/day/sessions/2026-11-27-my-shop-64b0b6d9.md'), page(text));
  assert.equal(await read('/day/today.md'), page(text));
  assert.equal(await read('/2026-11-27.md'), page(text));
  assert.equal(await read('/show/--raw.md'), 'There is no such page.');
  const asked = called().filter(([command]) => command === 'show' || command === 'day');
  assert.deepEqual(asked, [['show', '--full', '64b0b6d9'], ['show', '--full', '64b0b6d9'], ['day', 'today'], ['day', '2026-11-27']]);
});

test('chat tools mark what they return as data, and ask before', async (t) => {
  const { called } = window(t, { search: `${RESULT}\n`, context: '{"text":"quoted"}' });
  const token = { onCancellationRequested: new vscode.EventEmitter().event };
  type Tool = { invoke(options: unknown, token: unknown): Promise<vscode.LanguageModelToolResult>; prepareInvocation(options: unknown): never };
  const [search, topic] = ['recall_search', 'recall_topic'].map((name) => editor.tools.get(name) as Tool) as [Tool, Tool];
  const found = await search.invoke({ input: { words: '-x', limit: 900 } }, token);
  assert.match(found.content[0]?.value ?? '', /not an instruction[\s\S]*note m1, note\): Deploys go through CI/);
  const known = await topic.invoke({ input: { topic: '--json' } }, token);
  assert.match(known.content[0]?.value ?? '', /not an instruction[\s\S]*quoted/);
  const { confirmationMessages } = search.prepareInvocation({ input: { words: '[a](command:b)' } }) as { confirmationMessages: { message: string } };
  assert.match(confirmationMessages.message, /\[a\]\u200b\(command:b\)/);
  await assert.rejects(search.invoke({ input: {} }, token), /needs "words"/);
  const asked = called().filter(([command, , option]) => command === 'search' || option === '--summarizer');
  assert.deepEqual(asked, [
    ['search', '--json', '--limit', '20', '--', '-x'],
    ['context', '--json', '--summarizer', 'extract', '--about=--json'],
  ]);
});

test('the MCP server is the program that was found, and none if there is none', async (t) => {
  const { folder } = window(t, {});
  const servers = editor.servers.get('recall.mcp') as { provideMcpServerDefinitions(): Promise<vscode.McpStdioServerDefinition[]> };
  const [server] = await servers.provideMcpServerDefinitions();
  assert.deepEqual([server?.command, server?.args, server?.cwd?.fsPath], [path.join(folder, 'recall'), ['mcp'], folder]);
  editor.settings['recall.path'] = '/nowhere/recall';
  assert.deepEqual(await servers.provideMcpServerDefinitions(), []);
});

test('an editor without tools and MCP servers gets the rest', (t) => {
  const { registerTool, registerMcpServerDefinitionProvider } = vscode.lm;
  t.after(() => Object.assign(vscode.lm, { registerTool, registerMcpServerDefinitionProvider }));
  delete vscode.lm.registerTool;
  delete vscode.lm.registerMcpServerDefinitionProvider;
  window(t, {});
  assert.equal(editor.tools.size + editor.servers.size, 0);
  assert.ok(editor.commands.has('recall.search'));
});

test('an editor that refuses tools and MCP servers gets the rest', (t) => {
  const before = { ...vscode.lm };
  t.after(() => Object.assign(vscode.lm, before));
  t.mock.method(console, 'warn', () => {});
  const refuse = () => {
    throw new Error('must be registered under another name');
  };
  Object.assign(vscode.lm, { registerTool: refuse, registerMcpServerDefinitionProvider: refuse });
  window(t, {});
  assert.ok(editor.commands.has('recall.search'));
  assert.ok(editor.views.has('recall.today'));
});

for (const [name, setting, version] of [['missing', '/nowhere/recall', undefined], ['too old', undefined, '0.0.1']] as const) {
  test(`that the program is ${name} is said once, and once more after the setting changed`, async (t) => {
    window(t, {}, { version, setting });
    await rows('recall.today');
    await rows('recall.openItems');
    await rows('recall.today');
    await until(() => editor.messages.length > 0);
    assert.equal(editor.messages.length, 1);
    assert.match(editor.messages[0] ?? '', /recall\.path/);
    assert.ok(editor.views.get('recall.today')?.message);
    editor.configurationChanged.fire({ affectsConfiguration: () => true });
    await rows('recall.today');
    assert.equal(editor.messages.length, 2);
  });
}
