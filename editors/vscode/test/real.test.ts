// The questions of the extension to the real program, which RECALL_BIN names, in a world of its own.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { Memory } from '../src/memory';
import { findProgram } from '../src/program';
import { Failure, Recall } from '../src/recall';
import { localDay } from '../src/views/openItems';
import { digest, SESSION, transcript } from './session';
import { temporaryFolder } from './world';

const BIN = process.env.RECALL_BIN;
const skip = BIN ? false : 'RECALL_BIN names no program';
if (!BIN) console.error('The tests with the real program are skipped: set RECALL_BIN to its absolute path to run them.');

/** An index with one session; everything of the program's is below a temporary folder. */
async function world(t: TestContext): Promise<{ memory: Memory; folder: string; home: string }> {
  const home = temporaryFolder(t);
  const folder = path.join(home, 'shop');
  const projects = path.join(home, 'claude', 'projects', 'shop');
  for (const made of [folder, projects]) mkdirSync(made, { recursive: true });
  mkdirSync(path.join(home, 'data'), { mode: 0o700 });
  writeFileSync(path.join(projects, `${SESSION}.jsonl`), transcript(folder));
  const before = { ...process.env };
  const kept = { PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: path.join(home, 'claude'), RECALL_DATA_DIR: path.join(home, 'data') };
  process.env = { ...kept };
  t.after(() => void (process.env = before));
  const memory = new Memory(new Recall(() => findProgram(BIN ?? '')));
  return { memory, folder, home };
}

test('before the first digest the answers are empty or say what to do', { skip }, async (t) => {
  const { memory, folder } = await world(t);
  assert.equal((await memory.status()).lastDigest, undefined);
  await assert.rejects(memory.openItems(folder), (error) => error instanceof Failure && /recall digest/.test(error.message));
});

test('sessions, search, topic and pages', { skip }, async (t) => {
  const { memory, folder } = await world(t);
  digest(BIN ?? '', process.env);
  const [session, ...more] = await memory.latest();
  assert.deepEqual([session?.id, more.length], [SESSION, 0]);
  // Just after midnight the session may be one of yesterday.
  const ofToday = session?.when.startsWith(localDay(Date.now())) ? [SESSION] : [];
  assert.deepEqual((await memory.today()).map((one) => one.id), ofToday);
  assert.equal((await memory.status()).sessions, 1);
  const [result] = await memory.search('pagination cursor', 5, folder);
  assert.deepEqual([result?.kind, result?.id], ['session', SESSION]);
  assert.deepEqual(await memory.search('--json', 5, folder), []);
  assert.match(await memory.topic('pagination cursor', folder), /page\.rs/);
  assert.match(await memory.show(SESSION), /src\/page\.rs/);
  assert.match(await memory.day('today'), /sessions\/[\w-]+-64b0b6d9\.md/);
});

test('a note is kept, found, shown and closed', { skip }, async (t) => {
  const { memory, folder } = await world(t);
  digest(BIN ?? '', process.env);
  const { id, known } = await memory.remember('--edit is the option; todo: rename it', folder);
  assert.equal(known, false);
  assert.equal((await memory.remember('--edit is the option; todo: rename it', folder)).known, true);
  assert.match(await memory.show(id), /--edit is the option/);
  const [result] = await memory.search('rename option', 5, folder);
  assert.deepEqual([result?.kind, result?.id], ['note', id]);
  const todo = spawnSync(BIN ?? '', ['remember', '--json', '--kind', 'todo', '--project', folder, 'Rename the option'], { encoding: 'utf8' });
  const item = JSON.parse(todo.stdout).id;
  assert.deepEqual((await memory.openItems(folder)).map((one) => one.id), [item]);
  await memory.close(item);
  assert.deepEqual(await memory.openItems(folder), []);
  await memory.reopen(item);
  assert.deepEqual((await memory.openItems(folder)).map((one) => one.id), [item]);
});
