// Results as somebody types, filters, and the way back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, served, withBrowser } from './support/browser.mjs';
import { memory } from './support/scenes.mjs';

const own = withBrowser();
const shown = served(memory);

async function searchPage(t, query = '') {
  const page = await openPage(t, own, shown);
  await page.goto(`${shown.server.folder}search.html${query}`);
  return page;
}

const results = (page) => page.locator('#results li');

test('results come as somebody types, without another page', async (t) => {
  const page = await searchPage(t);
  await page.evaluate(() => (globalThis.before = true));
  const box = page.getByRole('searchbox');
  await box.pressSequentially('keyset');
  await results(page).filter({ hasText: 'Orders go missing' }).waitFor();
  assert.ok((await page.locator('#results mark').allInnerTexts()).some((word) => /keyset/i.test(word)));
  await box.fill('printer');
  await results(page).filter({ hasText: 'Labels of the jars' }).waitFor();
  assert.equal(await results(page).filter({ hasText: 'Orders go missing' }).count(), 0);
  await box.fill('zebrafish');
  await page.getByText('Nothing found.').waitFor();
  assert.equal(await page.evaluate(() => globalThis.before), true, 'the page was loaded again');
  assert.equal(new URL(page.url()).searchParams.get('q'), 'zebrafish');
  assert.equal(await box.evaluate((one) => document.activeElement === one), true);
});

test('of what is typed fast, the last word counts', async (t) => {
  const page = await searchPage(t);
  // The answer to the first words comes after that to the last ones.
  await page.route(/q=keyset&part/, async (route) => {
    await new Promise((done) => setTimeout(done, 1500));
    await route.continue().catch(() => {});
  });
  const box = page.getByRole('searchbox');
  const asked = page.waitForRequest(/q=keyset&part/);
  await box.fill('keyset');
  await asked;
  await box.fill('printer');
  await results(page).filter({ hasText: 'Labels of the jars' }).waitFor();
  await page.waitForTimeout(2000);
  assert.equal(await results(page).filter({ hasText: 'Orders go missing' }).count(), 0);
});

test('the way back from a result leads to the results', async (t) => {
  const page = await searchPage(t);
  await page.getByRole('searchbox').pressSequentially('printer');
  await results(page).getByRole('link', { name: 'Labels of the jars' }).click();
  await page.waitForURL(/session\//);
  await page.goBack();
  await results(page).filter({ hasText: 'Labels of the jars' }).waitFor();
  assert.equal(await page.getByRole('searchbox').inputValue(), 'printer');
});

test('filters are added and taken away by a click', async (t) => {
  const page = await searchPage(t, '?q=grams');
  await results(page).filter({ hasText: 'Weights are in grams' }).waitFor();
  await page.getByRole('link', { name: '+ what you said' }).click();
  await page.waitForURL(/kind%3Aprompt/);
  const box = page.getByRole('searchbox');
  assert.equal(await box.inputValue(), 'grams kind:prompt');
  assert.match(await results(page).first().innerText(), /Recipes in grams/);
  assert.equal(await results(page).filter({ hasText: 'Weights are in grams' }).count(), 0, 'a note is no prompt');
  await page.getByRole('link', { name: 'Remove the filter kind:prompt' }).click();
  await results(page).filter({ hasText: 'Weights are in grams' }).waitFor();
  assert.equal(await box.inputValue(), 'grams');
  // They follow what is typed.
  await box.fill('grams project:kitchen');
  await page.getByRole('link', { name: 'Remove the filter project:kitchen' }).waitFor();
  await page.goBack();
  await page.waitForURL(/kind%3Aprompt/);
  assert.equal(await box.inputValue(), 'grams kind:prompt');
});

test('the box on other pages searches', async (t) => {
  const page = await openPage(t, own, shown);
  await page.goto(shown.server.folder);
  await page.getByRole('searchbox').fill('invoices');
  await page.keyboard.press('Enter');
  await page.waitForURL(/search\.html\?q=invoices/);
  assert.ok(await results(page).count());
});
