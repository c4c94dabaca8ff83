import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../src/recall';
import * as replies from '../src/replies';

const unfit = (error: unknown) => error instanceof Failure && error.kind === 'old';

test('a reply that lacks a key, or is no JSON, means that the program does not fit', () => {
  assert.throws(() => replies.sessions('{"session":"a"}\n'), unfit);
  assert.throws(() => replies.sessions('no JSON\n'), unfit);
  assert.throws(() => replies.status('[]'), unfit);
  assert.throws(() => replies.results('{"project":"p","day":"d","title":"t","found_in":"reply","passage":"x"}'), unfit);
});

test('no lines are no sessions', () => {
  assert.deepEqual(replies.sessions('\n'), []);
});

test('open items are those of the project asked for', () => {
  const items = (id: string) => `[{"id":"${id}","kind":"todo","text":"x","first_at":1,"last_at":2}]`;
  const reply = `{"project":"/a","items":${items('m1')}}\n{"project":"/a/b","items":${items('m2')}}\n`;
  assert.deepEqual(replies.openItems(reply, '/a'), [{ id: 'm1', kind: 'todo', text: 'x', lastAt: 2 }]);
  assert.deepEqual(replies.openItems(reply, '/c'), []);
});

test('before the first digest there is none', () => {
  const said = { sessions: 0, waiting_for_digest: 0, waiting_for_model: 0, failing: [], last_run: null };
  assert.equal(replies.status(JSON.stringify(said)).lastDigest, undefined);
  assert.equal(replies.status(JSON.stringify({ ...said, last_run: { at: 5 } })).lastDigest, 5);
});
