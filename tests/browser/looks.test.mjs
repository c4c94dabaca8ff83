// How every page looks: in the light and in the dark, on a wide screen and on a phone. Pictures go to the folder SCREENSHOTS.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import axe from 'axe-core';
import { openPage, served, withBrowser } from './support/browser.mjs';
import { crawl } from './support/crawl.mjs';
import { memory } from './support/scenes.mjs';

const own = withBrowser();
const shown = served(memory);
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'];
const SIZES = { wide: { width: 1100, height: 700 }, phone: { width: 360, height: 740 } };

/** What axe finds on the page as it is. */
async function findings(page) {
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate((tags) => globalThis.axe.run(document, { runOnly: tags }), TAGS);
  assert.ok(passes.length > 10, 'axe looked at nothing');
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).slice(0, 3).join(' ')}`);
}

async function picture(page, address, name) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  const file = (address || 'today').replace(/\.html/, '').replace(/[^a-z0-9]+/gi, '-');
  await page.screenshot({ path: path.join(folder, `${file}.${name}.png`), fullPage: true });
}

/** What is wider than the screen. */
function wideThings(page) {
  return page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const all = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1);
    return [`${root.scrollWidth} of ${root.clientWidth}`, ...all.slice(0, 5).map((one) => one.outerHTML.slice(0, 200))];
  });
}

/** Short words that are broken although a line is longer than they are. */
function brokenWords(page) {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const broken = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const word = node.data.trim();
      // At a hyphen or a slash, a line may end.
      if (!/^[^\s/-]{2,20}$/.test(word) || !node.parentElement.offsetParent) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const lines = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
      if (lines.size > 1) broken.push(word);
    }
    return broken;
  });
}

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark']) {
    test(`every page is fit for all, ${colorScheme}, ${size}`, async (t) => {
      const page = await openPage(t, own, shown, { viewport, colorScheme });
      const found = [];
      const backs = new Set();
      await crawl(page, shown.server.folder, async (address) => {
        backs.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        await picture(page, address, `${colorScheme}.${size}`);
        // What is folded is looked at, too.
        await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
        found.push(...(await wideThings(page)).map((what) => `${address}: too wide: ${what}`));
        found.push(...(await brokenWords(page)).map((what) => `${address}: broken: ${what}`));
        found.push(...(await findings(page)).map((what) => `${address}: ${what}`));
      });
      assert.deepEqual(found, []);
      const [back] = [...backs].map((color) => color.match(/\d+/g).slice(0, 3).map(Number).reduce((sum, part) => sum + part));
      assert.ok(backs.size === 1 && (colorScheme === 'dark' ? back < 3 * 64 : back > 3 * 192), `${[...backs]}`);
    });
  }
}
