import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Failure, isOlder, Recall } from '../src/recall';
import { program, temporaryFolder } from './world';

const kind = (wanted: string) => (error: unknown) => error instanceof Failure && error.kind === wanted;

test('arguments reach the program as they are, without a shell', async (t) => {
  const folder = temporaryFolder(t);
  const file = program(folder, `printf '[%s]' "$@"`);
  const evil = `$(touch ${folder}/ran); "quoted" 'x' \`id\` -- --json\nsecond line`;
  const said = await new Recall(async () => file).run({ args: ['search', '--', evil] });
  assert.equal(said, `[search][--][${evil}]`);
  assert.equal(existsSync(path.join(folder, 'ran')), false);
});

test('a missing program is told apart', async () => {
  await assert.rejects(new Recall(async () => undefined).run({ args: [] }), kind('missing'));
  await assert.rejects(new Recall(async () => '/nowhere/recall').run({ args: [] }), kind('missing'));
});

test('an older program and another program are told apart', async (t) => {
  const old = program(temporaryFolder(t), 'echo never', '0.0.9');
  await assert.rejects(new Recall(async () => old).run({ args: ['list'] }), kind('old'));
  const other = program(temporaryFolder(t), 'echo never', 'of something else');
  await assert.rejects(new Recall(async () => other).run({ args: ['list'] }), kind('old'));
  const unknown = program(temporaryFolder(t), `echo "error: unexpected argument '--json' found" >&2; exit 2`);
  await assert.rejects(new Recall(async () => unknown).run({ args: ['todo', '--json'] }), kind('old'));
});

test('the version is asked for once, and again after it was forgotten', async (t) => {
  const folder = temporaryFolder(t);
  const count = path.join(folder, 'count');
  const file = program(folder, 'true');
  writeFileSync(file, readFileSync(file, 'utf8').replace('then echo', `then echo x >> ${count}; echo`));
  const recall = new Recall(async () => file);
  await Promise.all([recall.run({ args: ['a'] }), recall.run({ args: ['b'] })]);
  assert.equal(readFileSync(count, 'utf8'), 'x\n');
  recall.forgetVersion();
  await recall.run({ args: ['c'] });
  assert.equal(readFileSync(count, 'utf8'), 'x\nx\n');
});

test('a program that hangs is ended at the deadline', async (t) => {
  const folder = temporaryFolder(t);
  const file = program(folder, `echo $$ > ${folder}/pid; trap '' TERM; exec sleep 600`);
  await assert.rejects(new Recall(async () => file).run({ args: ['list'], deadline: 300 }), kind('deadline'));
  const pid = Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('output beyond the bound ends the call', async (t) => {
  const file = program(temporaryFolder(t), 'yes recall');
  await assert.rejects(new Recall(async () => file).run({ args: ['list'], maxBytes: 10_000 }), kind('too_much'));
});

test('a cancelled call ends the program', async (t) => {
  const folder = temporaryFolder(t);
  const file = program(folder, `echo $$ > ${folder}/pid; touch ${folder}/ready; exec sleep 600`);
  const cancel = new AbortController();
  const call = new Recall(async () => file).run({ args: ['list'], signal: cancel.signal });
  while (!existsSync(path.join(folder, 'ready'))) await new Promise((go) => setTimeout(go, 10));
  cancel.abort();
  await assert.rejects(call, kind('cancelled'));
  const pid = Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('what the program says is the message, without its warnings', async (t) => {
  const body = `echo 'recall: others can read this folder' >&2; echo 'recall: there is no index yet' >&2; exit 2`;
  const file = program(temporaryFolder(t), body);
  await assert.rejects(new Recall(async () => file).run({ args: ['list'] }), { message: 'there is no index yet' });
});

test('exit code 1 is an answer', async (t) => {
  const file = program(temporaryFolder(t), 'echo partly; exit 1');
  assert.equal(await new Recall(async () => file).run({ args: ['list'] }), 'partly\n');
});

test('versions compare by number', () => {
  assert.equal(isOlder([0, 9, 0], [0, 10, 0]), true);
  assert.equal(isOlder([0, 10, 0], [0, 9, 9]), false);
  assert.equal(isOlder([1, 0], [1, 0, 0]), false);
});
