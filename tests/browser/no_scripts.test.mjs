// A browser that runs no scripts. What it can change is in actions.test.mjs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, served, withBrowser } from './support/browser.mjs';
import { crawl } from './support/crawl.mjs';
import { LABELS, memory } from './support/scenes.mjs';
import { PLAIN } from './support/world.mjs';

const own = withBrowser();
const shown = served(memory);

test('every page says the same without scripts', async (t) => {
  const [plain, scripted] = [await openPage(t, own, shown, { javaScriptEnabled: false }), await openPage(t, own, shown)];
  await crawl(plain, shown.server.folder, async (address) => {
    await scripted.goto(shown.server.folder + address);
    assert.equal(await plain.locator('main').innerText(), await scripted.locator('main').innerText(), address);
  });
});

test('search and filters work by a form and links', async (t) => {
  const page = await openPage(t, own, shown, { javaScriptEnabled: false });
  await page.goto(shown.server.folder);
  await page.getByRole('searchbox').fill('grams');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=grams/);
  assert.ok(await page.locator('#results li').filter({ hasText: 'Recipes in grams' }).count());
  await page.getByRole('link', { name: '+ what you said' }).click();
  await page.waitForURL(/kind%3Aprompt/);
  await page.getByRole('searchbox').fill('printer');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/q=printer$/);
  assert.ok(await page.locator('#results li').filter({ hasText: 'Labels of the jars' }).count());
});

test('"This is wrong" opens what can be hidden', async (t) => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await openPage(t, own, shown, { javaScriptEnabled });
    await page.goto(`${shown.server.folder}session/${LABELS}.html`);
    await page.getByRole('link', { name: 'This is wrong' }).click();
    await page.getByRole('button', { name: /^Hide/ }).first().waitFor();
  }
});

test('the row behind a statement is one click away', async (t) => {
  const page = await openPage(t, own, shown, { javaScriptEnabled: false });
  await page.goto(`${shown.server.folder}session/${PLAIN}.html`);
  await page.locator('#decisions').getByRole('link', { name: 'The row behind this' }).click();
  await page.waitForURL(/rows\/.*#/);
  assert.equal(await page.locator(':target').count(), 1);
});
