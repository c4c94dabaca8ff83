// Every page as a browser meets it: it loads, is laid out and says what it is.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { openPage, ownServer, served, withBrowser } from './support/browser.mjs';
import { crawl } from './support/crawl.mjs';
import { memory } from './support/scenes.mjs';
import { Transcript } from './support/transcripts.mjs';
import { PLAIN } from './support/world.mjs';

const own = withBrowser();
const shown = served(memory);

/** Tags with an attribute that stands there twice: a browser takes the first one and says nothing. */
function doubleAttributes(html) {
  return [...html.matchAll(/<[a-z](?:"[^"]*"|[^">])*>/g)].map(([tag]) => tag).filter((tag) => {
    const names = [...tag.replace(/"[^"]*"/g, '').matchAll(/\s([a-z-]+)=/g)].map(([, name]) => name);
    return new Set(names).size < names.length;
  });
}

test('every page loads whole and without a complaint, and asks no other server', async (t) => {
  const page = await openPage(t, own, shown);
  const { folder } = shown.server;
  const strangers = [];
  const failed = [];
  page.on('request', (request) => request.url().startsWith(folder) || strangers.push(request.url()));
  page.on('response', (response) => response.ok() || failed.push(`${response.status()} ${response.url()}`));
  const titles = new Map();
  await crawl(page, folder, async (address, reply) => {
    assert.equal(await page.locator('h1').count(), 1, address);
    assert.ok((await page.locator('h1').innerText()).trim(), address);
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'en', address);
    const styles = await page.evaluate(() => getComputedStyle(document.querySelector('.top')).display);
    assert.equal(styles, 'flex', `${address} has no styles`);
    assert.deepEqual(doubleAttributes(await reply.text()), [], address);
    titles.set(address, await page.title());
    assert.match(titles.get(address), /.+ · recall$/, address);
  });
  assert.deepEqual([strangers, failed], [[], []]);
  assert.ok(titles.size > 25, `${[...titles.keys()]}`);
});

test('the navigation leads to each place and says where one is', async (t) => {
  const page = await openPage(t, own, shown);
  await page.goto(shown.server.folder);
  const here = page.locator('nav a[aria-current=page]');
  for (const name of ['Days', 'Sessions', 'Projects', 'Open items', 'Told', 'Status', 'Today']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await here.getByText(name, { exact: true }).waitFor();
    assert.equal(await here.count(), 1, name);
  }
  // From day to day, and to the week.
  await page.locator('main > p').getByRole('link', { name: 'Thursday, 19 November 2026' }).click();
  await page.waitForURL(/day\/2026-11-19/);
  assert.deepEqual(await here.allInnerTexts(), ['Days']);
  await page.getByRole('link', { name: 'The week of this day' }).click();
  await page.getByRole('heading', { name: 'Week of 16 November 2026' }).waitFor();
});

test('of the rows of a session, what the user said stands out', async (t) => {
  const page = await openPage(t, own, shown);
  await page.goto(`${shown.server.folder}rows/${PLAIN}.html`);
  const weight = (kind) => page.locator(`.row.${kind}`).first().evaluate((one) => Number(getComputedStyle(one).fontWeight));
  assert.ok((await weight('prompt')) > (await weight('reply')));
});

test('the command that resumes a session is there to be copied', async (t) => {
  const its = await ownServer(t, memory);
  // It is offered where the folder of the session is still there.
  const session = new Transcript(8, 'garden', '2026-11-20T08:00:00Z').user('Draw the beds to scale.').assistant('They are drawn.');
  const folder = its.world.at('garden');
  mkdirSync(folder);
  session.text = session.text.replaceAll(session.cwd, folder);
  session.folder = folder.replace(/[^a-z0-9]/gi, '-');
  its.world.transcript(session);
  its.world.digest();
  const page = await openPage(t, own, its);
  await page.goto(`${its.server.folder}session/${session.id}.html`);
  const command = page.getByRole('textbox', { name: 'The command that resumes this session' });
  assert.equal(await command.inputValue(), `cd ${folder} && claude --resume ${session.id}`);
  await command.focus();
  assert.equal(await page.evaluate(() => getSelection().toString()), await command.inputValue());
});

test('what is not there is said with a way back', async (t) => {
  const page = await openPage(t, own, { cookies: shown.cookies });
  const { folder } = shown.server;
  page.removeAllListeners('console');
  const reply = await page.goto(`${folder}session/ffff.html`);
  assert.equal(reply.status(), 404);
  await page.getByRole('link', { name: 'Back to the first page' }).click();
  assert.equal(page.url(), folder);
});

test('the link lets in once, and shows the newest day', async (t) => {
  const server = await shown.world.serve();
  const page = await openPage(t, own, {});
  await page.goto(server.link);
  await page.waitForURL(server.folder);
  assert.match(await page.locator('h1').innerText(), /20 November 2026/);
  const cookies = await page.context().cookies(server.folder);
  assert.deepEqual(cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite })), [{ httpOnly: true, sameSite: 'Strict' }]);
  const other = await openPage(t, own, {});
  other.removeAllListeners('console');
  assert.equal((await other.goto(server.link)).status(), 403);
  assert.equal((await other.goto(server.folder)).status(), 401);
});

test('the row behind a statement is one click away and stands out', async (t) => {
  const page = await openPage(t, own, shown);
  await page.goto(`${shown.server.folder}session/${PLAIN}.html`);
  const statement = page.locator('#decisions li', { hasText: 'keyset pagination' });
  await statement.getByRole('link', { name: 'The row behind this' }).click();
  await page.waitForURL(/rows\/.*#/);
  const row = page.locator('.row:target, .row:has(:target)');
  assert.equal(await row.count(), 1);
  const [of, others] = await page.locator('.row').evaluateAll((rows) => {
    const back = (one) => getComputedStyle(one).backgroundColor;
    const target = rows.find((one) => one.matches(':target, :has(:target)'));
    return [back(target), rows.filter((one) => one !== target).map(back)];
  });
  assert.ok(!others.includes(of), of);
  const box = await row.boundingBox();
  assert.ok(box.y >= 0 && box.y < 700, `it is out of sight: ${box.y}`);
  // From the evidence, too.
  await page.goBack();
  await page.locator('details#evidence summary').click();
  await page.locator('details#evidence a').first().click();
  await page.waitForURL(/rows\/.*#/);
  assert.equal(await page.locator(':target').count(), 1);
});
