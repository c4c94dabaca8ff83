// The package in a real editor: code-server, looked at in Chromium. RECALL_TEST_EDITOR names it, as `.ci/install-editor` prints it.
//
// test/driver is an extension that calls the chat tools as the chat does, and answers by files.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { chromium, type Page } from 'playwright-core';
import { findProgram } from '../src/program';
import { digest, SESSION, transcript } from './session';
import { temporaryFolder } from './world';

const { RECALL_BIN: BIN, RECALL_TEST_EDITOR: EDITOR } = process.env;
const skip = BIN && EDITOR ? false : 'RECALL_BIN and RECALL_TEST_EDITOR name no program and no editor';
if (skip) console.error(`The test in a real editor is skipped: ${skip}.`);

interface Answer {
  text?: string;
  error?: string;
  version?: string;
  missing?: string[];
  listed?: string[];
}

class Editor {
  private asked = 0;

  constructor(
    readonly page: Page,
    private readonly folder: string,
  ) {}

  /** Has the driver do it. */
  begin(what: object): Promise<Answer> {
    const number = this.asked++;
    const [ask, answer] = ['ask', 'answer'].map((kind) => path.join(this.folder, `${kind}-${number}.json`)) as [string, string];
    writeFileSync(`${ask}.new`, JSON.stringify(what));
    renameSync(`${ask}.new`, ask);
    return until(() => (existsSync(answer) ? (JSON.parse(readFileSync(answer, 'utf8')) as Answer) : undefined), `an answer to ${JSON.stringify(what)}`);
  }

  /** Calls a tool, and answers the question that the editor asks first. Returns the question, too. */
  async call(name: string, input: object, button = 'Yes'): Promise<Answer & { question: string }> {
    const answer = this.begin({ does: 'tool', name, input });
    const dialog = this.page.locator('.monaco-dialog-box');
    const question = await dialog.innerText();
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    return { ...(await answer), question };
  }
}

async function until<T>(look: () => T | undefined, what: string): Promise<T> {
  const end = Date.now() + 120_000;
  for (;;) {
    const seen = look();
    if (seen !== undefined) return seen;
    assert.ok(Date.now() < end, `no ${what}`);
    await new Promise((go) => setTimeout(go, 50));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** A window of the editor with both extensions, in a folder of whose project one session is stored. */
async function open(t: TestContext): Promise<Editor> {
  const home = temporaryFolder(t);
  const at = (...names: string[]) => path.join(home, ...names);
  for (const made of ['shop', 'claude/projects/shop', 'editor/Machine', 'extensions', 'driver']) mkdirSync(at(made), { recursive: true });
  mkdirSync(at('data'), { mode: 0o700 });
  writeFileSync(at('claude/projects/shop', `${SESSION}.jsonl`), transcript(at('shop')));
  writeFileSync(at('editor/Machine/settings.json'), JSON.stringify({ 'recall.path': BIN }));
  // Extensions are looked for and updated nowhere.
  const env = {
    PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: at('claude'), RECALL_DATA_DIR: at('data'), EXTENSIONS_GALLERY: '{"serviceUrl":""}',
  };
  digest(BIN ?? '', env);
  cpSync('test/driver', at('driver'), { recursive: true });
  const vsce = path.resolve('node_modules/.bin/vsce');
  execFileSync(vsce, ['package', '--allow-missing-repository', '--skip-license', '--out', at('driver.vsix')], { cwd: at('driver'), env, stdio: 'pipe' });
  const folders = ['--user-data-dir', at('editor'), '--extensions-dir', at('extensions')];
  for (const one of [path.resolve('recall.vsix'), at('driver.vsix')]) {
    execFileSync(EDITOR ?? '', [...folders, '--install-extension', one], { env, stdio: 'pipe' });
  }

  const port = await freePort();
  const still = ['--auth', 'none', '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'];
  const child = spawn(EDITOR ?? '', [...folders, ...still, '--bind-addr', `127.0.0.1:${port}`], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  child.stdout.on('data', (part) => (said += part));
  t.after(async () => {
    const ended = new Promise((gone) => child.once('exit', gone));
    child.kill();
    await ended;
  });
  await until(() => (said.includes('HTTP server listening') ? true : undefined), 'editor');
  const executablePath = process.env.CHROMIUM ?? (await findProgram('chromium'));
  assert.ok(executablePath, 'no Chromium is installed: CHROMIUM or the PATH has to lead to one');
  const rules = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', rules], env: { PATH: process.env.PATH, HOME: home } });
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  page.setDefaultTimeout(60_000);
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(at('shop'))}`);
  return new Editor(page, at('shop'));
}

test('the chat of a real editor calls the tools, and starts the MCP server', { skip, timeout: 300_000 }, async (t) => {
  const editor = await open(t);
  const has = await editor.begin({ does: 'look' });
  t.diagnostic(`VS Code ${has.version}${has.missing?.length ? `, which lacks ${has.missing.join(' and ')}` : ''}`);
  assert.deepEqual(has.missing, [], 'what follows needs an editor that has all of this');
  assert.deepEqual(has.listed, ['recall_search', 'recall_topic']);

  const found = await editor.call('recall_search', { words: 'pagination cursor', limit: 3 });
  assert.match(found.question, /Search earlier sessions[\s\S]*gets what recall finds for: pagination cursor/);
  assert.match(found.text ?? '', new RegExp(`not an instruction[\\s\\S]*session ${SESSION}[\\s\\S]*pagination cursor`));
  assert.match((await editor.call('recall_search', { words: 'nowhereatall' })).text ?? '', /Nothing was found\.$/);
  assert.match((await editor.call('recall_topic', { topic: 'Where does the pagination cursor come from?' })).text ?? '', /not an instruction[\s\S]*page\.rs/);
  const refused = await editor.call('recall_topic', { topic: 'pagination cursor' }, 'Cancel');
  assert.deepEqual([refused.text, refused.error], [undefined, 'Canceled']);

  for (const [name, input, words] of [
    ['recall_search', {}, /needs "words": a text/],
    ['recall_search', { words: 'x', limit: 'many' }, /needs "limit" as a whole number from 1 to 20/],
    ['recall_topic', { topic: ' ' }, /needs "topic": a text/],
  ] as const) {
    assert.match((await editor.call(name, input)).error ?? '', words);
  }

  // The server is offered, and the editor reads its tools once somebody starts it.
  await editor.begin({ does: 'command', id: 'workbench.mcp.listServer' });
  const rows = editor.page.locator('.quick-input-list .monaco-list-row');
  await rows.filter({ hasText: /^recall/ }).click();
  await rows.filter({ hasText: /^Start Server/ }).click();
  let all: string[] = [];
  while (!all.some((name) => /^mcp_recall.*_search$/.test(name))) all = (await editor.begin({ does: 'look' })).listed ?? [];
  assert.ok(all.some((name) => /^mcp_recall.*_remember$/.test(name)), all.join());

  await editor.begin({ does: 'set', key: 'path', value: '/nowhere/recall' });
  const without = await editor.call('recall_topic', { topic: 'pagination cursor' });
  assert.match(without.error ?? '', /was not found\. Install it as its README says, or set recall\.path/);
});
