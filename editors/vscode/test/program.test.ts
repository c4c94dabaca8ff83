import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../src/program';
import { program, temporaryFolder } from './world';

const at = (home: string, PATH: string) => ({ env: { PATH }, home, platform: 'linux' as const });

test('a plain name is found on the PATH, before the folders of installers', async (t) => {
  const [first, home] = [temporaryFolder(t), temporaryFolder(t)];
  const onPath = program(first, '');
  mkdirSync(path.join(home, '.local', 'bin'), { recursive: true });
  const installed = program(path.join(home, '.local', 'bin'), '');
  assert.equal(await findProgram('recall', at(home, `/nowhere:${first}`)), onPath);
  assert.equal(await findProgram('recall', at(home, '/nowhere')), installed);
  assert.equal(await findProgram('  ', at(home, '/nowhere')), installed);
  assert.equal(await findProgram('~/.local/bin/recall', at(home, '')), installed);
});

test('no relative path is started, neither of the setting nor of the PATH', async (t) => {
  const folder = temporaryFolder(t);
  program(folder, '');
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => process.chdir(before));
  const home = temporaryFolder(t);
  assert.equal(await findProgram('./recall', at(home, '')), undefined);
  assert.equal(await findProgram('recall', at(home, '.::')), undefined);
});

test('a folder or a file that cannot be run is not the program', async (t) => {
  const [folder, home] = [temporaryFolder(t), temporaryFolder(t)];
  mkdirSync(path.join(folder, 'a'));
  const plain = path.join(folder, 'b');
  writeFileSync(plain, '');
  chmodSync(plain, 0o644);
  assert.equal(await findProgram(path.join(folder, 'a'), at(home, '')), undefined);
  assert.equal(await findProgram(plain, at(home, '')), undefined);
});
