import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Lane } from '../src/lane';
import { Failure, Recall } from '../src/recall';
import { program, temporaryFolder } from './world';

test('a newer call ends the program of the one before it', async (t) => {
  const folder = temporaryFolder(t);
  const body = `[ "$1" = slow ] || { echo quick; exit; }\necho $$ > ${folder}/pid; touch ${folder}/ready; exec sleep 600`;
  const file = program(folder, body);
  const recall = new Recall(async () => file);
  const lane = new Lane();
  const slow = lane.run((signal) => recall.run({ args: ['slow'], signal }));
  const ended = assert.rejects(slow, (error) => error instanceof Failure && error.kind === 'cancelled');
  while (!existsSync(path.join(folder, 'ready'))) await new Promise((go) => setTimeout(go, 10));
  assert.equal(await lane.run((signal) => recall.run({ args: ['quick'], signal })), 'quick\n');
  await ended;
  const pid = Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});
