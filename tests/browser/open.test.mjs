// `recall serve --open`, with a stand-in for what opens the browser.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { atEnd, openPage, withBrowser } from './support/browser.mjs';
import { memory } from './support/scenes.mjs';

const own = withBrowser();

test('the browser gets a file, which lets in, and no secret as an argument', { skip: process.platform === 'darwin' && 'there it is `open`' }, async (t) => {
  const world = memory();
  atEnd(t, () => world.end());
  world.script('xdg-open', `printf '%s\\n' "$@" > '${world.at('opened.new')}' && mv '${world.at('opened.new')}' '${world.at('opened')}'`);
  const server = await world.serve('--open');
  for (let tries = 0; !existsSync(world.at('opened')); tries += 1) {
    assert.ok(tries < 600, 'nothing was opened');
    await pause(100);
  }
  const told = readFileSync(world.at('opened'), 'utf8').trim();
  assert.equal(told.split('\n').length, 1);
  assert.ok(existsSync(told), `not a file: ${told}`);
  assert.doesNotMatch(told, /[0-9a-f]{16}|http/, 'an argument that others can read');
  assert.equal(statSync(told).mode & 0o777, 0o600);
  const page = await openPage(t, own, {});
  await page.goto(String(pathToFileURL(told)));
  await page.waitForURL(server.folder);
  assert.match(await page.locator('h1').innerText(), /20 November 2026/);
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.waitForURL(/sessions\.html$/);
  // A second browser is not let in by the same file.
  const other = await openPage(t, own, {});
  other.removeAllListeners('console');
  await other.goto(String(pathToFileURL(told)));
  await other.getByText('this link was used before').waitFor();
});
