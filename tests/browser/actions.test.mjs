// What a click changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, ownServer, withBrowser } from './support/browser.mjs';
import { LABELS, OPEN_ITEM, memory } from './support/scenes.mjs';
import { PLAIN } from './support/world.mjs';

const own = withBrowser();

// With and without scripts: nothing that changes the memory needs one.
for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts';

  test(`an open item is closed ${how}`, async (t) => {
    const its = await ownServer(t, memory);
    const page = await openPage(t, own, its, { javaScriptEnabled });
    await page.goto(`${its.server.folder}open.html`);
    const others = await page.locator('.acts li').count();
    await page.getByRole('button', { name: `Close: ${OPEN_ITEM}` }).click();
    await page.waitForURL(`${its.server.folder}open.html`);
    assert.equal(await page.locator('.acts li').count(), others - 1);
    assert.equal(await page.getByText(OPEN_ITEM).count(), 0);
    assert.ok(!its.world.recall('todo').includes(OPEN_ITEM));
  });

  test(`a statement is hidden and shown again ${how}`, async (t) => {
    const its = await ownServer(t, memory);
    const page = await openPage(t, own, its, { javaScriptEnabled });
    const statement = 'Claude: “Cause: ';
    await page.goto(`${its.server.folder}session/${PLAIN}.html`);
    await page.getByRole('link', { name: 'This is wrong' }).click();
    const part = page.locator('details:has(#wrong)');
    if (!(await part.evaluate((one) => one.open))) await part.locator('summary').click();
    assert.equal(await page.locator('#learned').getByText(statement).count(), 1);
    await part.getByRole('button', { name: `Hide: ${statement}` }).click();
    await part.getByRole('heading', { name: 'Hidden' }).waitFor({ state: 'attached' });
    assert.equal(await page.locator('#learned').getByText(statement).count(), 0);
    assert.ok(!its.world.recall('show', PLAIN).includes(statement));
    if (!(await part.evaluate((one) => one.open))) await part.locator('summary').click();
    await part.getByRole('button', { name: /^Show again/ }).click();
    await part.getByRole('heading', { name: 'Hidden' }).waitFor({ state: 'detached' });
    assert.equal(await page.locator('#learned').getByText(statement).count(), 1);
    assert.ok(its.world.recall('show', PLAIN).includes(statement));
  });

  test(`a session is forgotten after a question ${how}`, async (t) => {
    const its = await ownServer(t, memory);
    const page = await openPage(t, own, its, { javaScriptEnabled });
    const address = `${its.server.folder}session/${LABELS}.html`;
    await page.goto(address);
    await page.getByRole('link', { name: 'Forget this session' }).click();
    await page.getByRole('link', { name: 'Keep it' }).click();
    await page.waitForURL(address);
    await page.getByRole('link', { name: 'Forget this session' }).click();
    await page.getByRole('button', { name: /^Forget it for good/ }).click();
    await page.getByText('forgot 1 session whole').waitFor();
    await page.getByRole('link', { name: 'Back to the first page' }).click();
    page.removeAllListeners('console');
    assert.equal((await page.goto(address)).status(), 404);
    assert.ok(!its.world.recall('list').includes('Labels of the jars'));
  });
}

test('a form of an earlier run of the server is refused with words', async (t) => {
  const its = await ownServer(t, memory);
  const page = await openPage(t, own, its);
  await page.goto(`${its.server.folder}open.html`);
  await page.locator('input[name=word]').evaluateAll((all) => all.forEach((one) => (one.value = '0'.repeat(64))));
  page.removeAllListeners('console');
  await page.getByRole('button', { name: `Close: ${OPEN_ITEM}` }).click();
  await page.getByText('load the page again').waitFor();
  assert.ok(its.world.recall('todo').includes(OPEN_ITEM));
});
