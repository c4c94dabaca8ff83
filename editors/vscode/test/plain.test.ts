import assert from 'node:assert/strict';
import { test } from 'node:test';
import { label, page } from '../src/plain';

const visible = (text: string) => text.replaceAll('\u200b', '');

test('a label is one line without icons, links and characters that hide or reverse text', () => {
  const said = label('first\n\tsecond \u202egnirts\u2069 $(error) [click](command:evil)\u0007');
  assert.equal(visible(said), 'first second gnirts $(error) [click](command:evil)');
  assert.doesNotMatch(said, /\$\(|\]\(/);
});

test('a label is cut between characters', () => {
  assert.equal(label('👩‍💻'.repeat(3) + 'x'.repeat(50), 4), '👩\u200d💻…');
  assert.equal(label('short', 5), 'short');
});

test('a page has no HTML, no images and no links to anything but pages', () => {
  const evil = [
    '<img src=https://example.com/a.png onerror=x> </b> <!-- --> <?p?> <https://example.com>',
    '![pixel](https://example.com/p.png) ![ref][a]',
    '[run](command:workbench.action.terminal.new) [file](file:///etc/passwd) [dot](./x.md?y) [md](https://example.com/x.md)',
    '[a]: command:evil',
    '[up](../../../x.md) [colon](command:x.md)',
  ].join('\n');
  const said = page(evil);
  assert.equal(visible(said), evil);
  assert.doesNotMatch(said, /<[a-z/!?]|!\[|\]\(|\]:/i);
});

test('links between pages and comparisons stay as they are', () => {
  const text = '[session page](sessions/2026-11-27-shop-64b0b6d9.md) [day](../2026-11-27.md) a < b, 1<2';
  assert.equal(page(text), text);
});
