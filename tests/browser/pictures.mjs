// Makes the pictures of README.md and the book, from made sessions:
//
//     RECALL_BIN=../../target/debug/recall npm run pictures
//
// They go to docs/src, or to the folder that is named.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBrowser } from './support/browser.mjs';
import { memory } from './support/scenes.mjs';
import { PLAIN } from './support/world.mjs';

const FOLDER = process.argv[2] ?? fileURLToPath(new URL('../../docs/src', import.meta.url));
const MAX_BYTES = 120_000;
const PAGES = { 'browser-session.png': `session/${PLAIN}.html`, 'browser-day.png': 'day/2026-11-18.html' };

const world = memory();
const { browser, close } = await startBrowser();
try {
  const server = await world.serve();
  const context = await browser.newContext({ viewport: { width: 1100, height: 700 }, colorScheme: 'light' });
  await context.addCookies([await world.cookie(server.link)]);
  const page = await context.newPage();
  for (const [name, address] of Object.entries(PAGES)) {
    const reply = await page.goto(server.folder + address);
    assert.equal(reply.status(), 200, address);
    const file = path.join(FOLDER, name);
    await page.screenshot({ path: file });
    const bytes = statSync(file).size;
    assert.ok(bytes < MAX_BYTES, `${file} has ${bytes} bytes`);
    const picture = readFileSync(file);
    console.log(`${file}: ${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}, ${bytes} bytes`);
  }
} finally {
  await close();
  await world.end();
}
