// A page that stays open while a digest runs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, ownServer, withBrowser } from './support/browser.mjs';
import { memory } from './support/scenes.mjs';
import { Transcript } from './support/transcripts.mjs';

const own = withBrowser();

test('it hears of what a digest adds, and shows it when it is asked to', async (t) => {
  const its = await ownServer(t, memory);
  const page = await openPage(t, own, its);
  const stream = page.waitForResponse(/live$/);
  await page.goto(`${its.server.folder}sessions.html`);
  await stream;
  const news = page.locator('#news');
  assert.equal(await news.isVisible(), false);
  // What the server has said once is what the page compares with.
  await page.waitForTimeout(1500);
  const added = new Transcript(7, 'kitchen', '2026-11-20T09:40:00Z').user('Sort the spices by name.').assistant('They are sorted.').titled('Spices by name');
  its.world.transcript(added);
  its.world.digest();
  await news.getByText('1 new session').waitFor();
  await news.getByText('1 new digest').waitFor();
  assert.equal(await page.getByText('Spices by name').count(), 0, 'nothing moves under the reader');
  await news.getByRole('link', { name: 'Show' }).click();
  await page.getByText('Spices by name').waitFor();
  assert.equal(await news.isVisible(), false);
  its.world.recall('forget', '--session', added.id, '--yes');
  await news.getByText('1 session fewer').waitFor();
});

test('an ended server changes nothing on the page', async (t) => {
  const its = await ownServer(t, memory);
  const page = await openPage(t, own, its);
  await page.goto(`${its.server.folder}sessions.html`);
  const before = await page.locator('main').innerText();
  const ended = new Promise((done) => its.server.child.once('exit', done));
  page.removeAllListeners('console');
  its.server.child.kill();
  assert.equal(await ended, 0);
  await page.waitForTimeout(500);
  assert.equal(await page.locator('main').innerText(), before);
});
