// The pages as files, opened without a server.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openPage, withBrowser } from './support/browser.mjs';
import { hostile, memory } from './support/scenes.mjs';

const own = withBrowser();

for (const scene of [memory, hostile]) {
  test(`the files of ${scene.name} have their styles, and links that lead somewhere`, async (t) => {
    const world = scene();
    t.after(() => world.end());
    const folder = world.at('site');
    world.recall('serve', '--export', folder);
    const root = `${pathToFileURL(folder)}/`;
    const page = await openPage(t, own, {});
    const strangers = [];
    page.on('request', (request) => request.url().startsWith(root) || strangers.push(request.url()));
    const waiting = [`${root}index.html`];
    const seen = new Set();
    while (waiting.length) {
      const address = waiting.shift();
      if (seen.has(address)) continue;
      seen.add(address);
      await page.goto(address);
      const [display, forms, scripts] = await page.evaluate(() => [
        getComputedStyle(document.querySelector('.top')).display, document.querySelectorAll('form, button').length, document.scripts.length,
      ]);
      assert.deepEqual([display, forms, scripts], ['flex', 0, 0], address);
      const links = await page.locator('a[href]').evaluateAll((all) => all.map((one) => one.href));
      for (const link of links) {
        // What a transcript names may lead out of the folder, but only into the web.
        if (/^https?:/.test(link)) continue;
        assert.ok(link.startsWith(root), `${address} leads to ${link}`);
        const [file, part] = link.split('#');
        assert.ok(existsSync(fileURLToPath(file)), `${address} leads to ${file}`);
        if (part && file === address) assert.equal(await page.locator(`[id="${part}"]`).count(), 1, `${address} has no part ${part}`);
        waiting.push(file);
      }
    }
    assert.deepEqual(strangers, []);
    for (const kind of ['day/', 'week/', 'session/', 'rows/', 'project/']) {
      assert.ok([...seen].some((address) => address.startsWith(root + kind)), `no page ${kind}`);
    }
    // As somebody clicks, with the part of a page that a link names.
    await page.goto(`${root}index.html`);
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.locator('main li a').first().click();
    await page.getByRole('link', { name: 'All rows' }).click();
    await page.waitForURL(/rows\//);
  });
}
