// Without a mouse.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, ownServer, served, withBrowser } from './support/browser.mjs';
import { OPEN_ITEM, memory } from './support/scenes.mjs';
import { PLAIN } from './support/world.mjs';

const own = withBrowser();
const shown = served(memory);

/** What has the focus: its words, and whether one sees that it has it. */
function focused(page) {
  return page.evaluate(() => {
    const one = document.activeElement;
    const style = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    return {
      tag: one.tagName, text: (one.getAttribute('aria-label') ?? one.textContent).trim(), id: one.id,
      where: [box.left, box.top, box.right, box.bottom].map(Math.round).join(' '),
      isMarked: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
      isInSight: box.width > 0 && box.height > 0 && box.left > -1 && box.right < innerWidth + 1 && box.top > -1 && box.bottom < innerHeight + 1,
    };
  });
}

async function pageAt(t, address) {
  const page = await openPage(t, own, shown);
  await page.goto(shown.server.folder + address);
  return page;
}

test('`/` leads to the search, Escape out of it', async (t) => {
  for (const address of ['', 'sessions.html', 'status.html']) {
    const page = await pageAt(t, address);
    await page.keyboard.press('/');
    const { tag, text, isMarked } = await focused(page);
    assert.deepEqual([tag, text, isMarked], ['INPUT', 'Search the memory', true]);
    await page.keyboard.type('grams/');
    assert.equal(await page.getByRole('searchbox').inputValue(), 'grams/', 'within the box it is a letter');
    await page.keyboard.press('Escape');
    assert.equal((await focused(page)).tag, 'BODY');
  }
});

test('`j` and `k` go through what is listed, Enter opens it', async (t) => {
  for (const address of ['', 'days.html', 'sessions.html', 'projects.html', 'open.html', 'told.html', 'search.html?q=grams']) {
    const page = await pageAt(t, address);
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    const first = await focused(page);
    assert.ok(first.isMarked && first.isInSight, `${address}: ${JSON.stringify(first)}`);
    await page.keyboard.press('j');
    const second = await focused(page);
    await page.keyboard.press('k');
    assert.deepEqual(await focused(page), first, address);
    if (second.text !== first.text) assert.notDeepEqual(second, first, address);
    const link = await page.evaluate(() => document.activeElement.href);
    await page.keyboard.press('Enter');
    if (link) await page.waitForURL(link);
  }
});

test('`j` goes to the last one and stays there', async (t) => {
  const page = await pageAt(t, 'sessions.html');
  const count = await page.locator('ul.sessions > li').count();
  for (let step = 0; step < count + 3; step += 1) await page.keyboard.press('j');
  assert.equal((await focused(page)).text, (await page.locator('ul.sessions > li > a').last().innerText()).trim());
});

test('the first Tab offers to skip to the content', async (t) => {
  const page = await pageAt(t, `session/${PLAIN}.html`);
  await page.keyboard.press('Tab');
  const link = await focused(page);
  assert.deepEqual([link.text, link.isInSight, link.isMarked], ['Skip to the content', true, true]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/#content$/);
  assert.equal((await focused(page)).id, 'content');
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.querySelector('main').contains(document.activeElement)));
});

test('Tab goes through everything in the order in which it is read, and one sees where one is', async (t) => {
  for (const address of ['', `session/${PLAIN}.html`, 'open.html', 'search.html?q=grams', 'status.html', 'told.html']) {
    const page = await pageAt(t, address);
    await page.keyboard.press('Escape');
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
      document.activeElement.blur();
      const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), summary')];
      all.forEach((one, at) => (one.dataset.at = String(at)));
    });
    const places = await page.locator('[data-at]').count();
    // The search page begins in its box: Tab goes on from there.
    const first = address.startsWith('search') ? Number(await page.getByRole('searchbox').getAttribute('data-at')) + 1 : 0;
    assert.ok(places - first > 5, address);
    for (let at = first; at < places; at += 1) {
      await page.keyboard.press('Tab');
      const here = await page.evaluate(() => document.activeElement.dataset.at);
      assert.equal(here, String(at), address);
      const { isMarked, isInSight, text, where } = await focused(page);
      assert.deepEqual({ text, isMarked, isInSight }, { text, isMarked: true, isInSight: true }, `${address}: ${where}`);
    }
  }
});

test('an item is closed by keys alone', async (t) => {
  const its = await ownServer(t, memory);
  const page = await openPage(t, own, its);
  await page.goto(`${its.server.folder}open.html`);
  for (let step = 0; (await focused(page)).text !== OPEN_ITEM; step += 1) {
    assert.ok(step < 20, 'it is not listed');
    await page.keyboard.press('j');
  }
  await page.keyboard.press('Tab');
  assert.equal((await focused(page)).text, `Close: ${OPEN_ITEM}`);
  await page.keyboard.press('Enter');
  await page.getByText(OPEN_ITEM).waitFor({ state: 'detached' });
});
