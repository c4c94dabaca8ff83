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

/** Today and the status of a memory, each open in the browser, and the line of each that says how far a digest is. */
async function withLines(t) {
  const its = await ownServer(t, memory);
  its.world.transcript(new Transcript(7, 'kitchen', '2026-11-20T09:40:00Z').user('Sort the spices by name.').assistant('They are sorted.'));
  const lines = [];
  for (const address of ['', 'status.html']) {
    const page = await openPage(t, own, its);
    const stream = page.waitForResponse(/live$/);
    await page.goto(its.server.folder + address);
    await stream;
    // Gone if the page is loaded again.
    await page.evaluate(() => (window.isSamePage = true));
    lines.push(page.locator('#running'));
    assert.equal(await lines.at(-1).isVisible(), false, `${address}: nothing runs yet`);
  }
  return { its, lines };
}

async function assertRuns(lines) {
  for (const line of lines) await line.filter({ hasText: /^a digest is running: digesting, \d+ of \d+$/ }).waitFor();
}

async function assertGone(lines) {
  for (const line of lines) {
    await line.waitFor({ state: 'hidden' });
    assert.equal(await line.innerText(), '');
    assert.equal(await line.page().evaluate(() => window.isSamePage), true, 'nothing was loaded again');
  }
}

test('a digest under way is seen on Today and Status, as long as it runs', async (t) => {
  const { its, lines } = await withLines(t);
  const digest = its.world.beginSlowDigest();
  await assertRuns(lines);
  // Whoever comes later sees it at once.
  const later = await openPage(t, own, its, { javaScriptEnabled: false });
  await later.goto(`${its.server.folder}status.html`);
  await assertRuns([later.locator('#running')]);
  digest.letGo();
  assert.equal(await digest.ended, 0);
  await assertGone(lines);
  for (const line of lines) await line.page().locator('#news').getByText('1 new digest').waitFor();
  await later.reload();
  assert.equal(await later.locator('#running').isVisible(), false);
});

test('a digest that was killed runs no more', async (t) => {
  const { its, lines } = await withLines(t);
  const digest = its.world.beginSlowDigest();
  await assertRuns(lines);
  digest.kill();
  await digest.ended;
  await assertGone(lines);
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
