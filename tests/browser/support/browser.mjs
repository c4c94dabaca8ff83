// A real browser: the Chromium of this machine, which meets nobody but this machine.

import assert from 'node:assert/strict';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const ARGUMENTS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync',
  // A name that somebody makes mean this machine; all others lead nowhere.
  '--host-resolver-rules=MAP evil.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

/** CHROMIUM names the browser; else it is looked for on the PATH. */
function browserProgram() {
  const folders = (process.env.PATH ?? '').split(':').filter(path.isAbsolute);
  const all = process.env.CHROMIUM ? [process.env.CHROMIUM] : NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const found = all.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  assert.ok(found, `no Chromium is installed: CHROMIUM or the PATH has to lead to one (${NAMES.join(', ')})`);
  return found;
}

/** A browser with a home of its own. */
export async function startBrowser() {
  const home = mkdtempSync(path.join(tmpdir(), 'recall-chromium-'));
  const browser = await chromium.launch({ executablePath: browserProgram(), args: ARGUMENTS, env: { PATH: process.env.PATH, HOME: home, TMPDIR: home } });
  const close = async () => {
    await browser.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { browser, close };
}

/** A browser for all tests of a file. */
export function withBrowser() {
  const own = {};
  before(async () => Object.assign(own, await startBrowser()));
  after(() => own.close?.());
  return own;
}

/** A memory for all tests of a file that change nothing, served. */
export function served(scene, ...args) {
  const own = {};
  before(async () => {
    own.world = scene();
    own.server = await own.world.serve(...args);
    own.cookies = [await own.world.cookie(own.server.link)];
  });
  after(() => own.world?.end());
  return own;
}

const endings = new WeakMap();

/** Does it at the end of a test, before what was to be done at its end earlier. */
export function atEnd(t, work) {
  const works = endings.get(t) ?? [];
  works.push(work);
  if (works.length > 1) return;
  endings.set(t, works);
  t.after(async () => {
    for (const one of works.reverse()) await one();
  });
}

/** A memory and a server of its own for a test that changes something. */
export async function ownServer(t, scene) {
  const world = scene();
  atEnd(t, () => world.end());
  const server = await world.serve();
  return { world, server, cookies: [await world.cookie(server.link)] };
}

/**
 * A page of a browser that was let in. What its console complains of, and scripts that fail or ask something, fail the test at its end.
 */
export async function openPage(t, own, { cookies }, options = {}) {
  const context = await own.browser.newContext({ viewport: { width: 1100, height: 700 }, ...options });
  context.setDefaultTimeout(20_000);
  if (cookies) await context.addCookies(cookies);
  const page = await context.newPage();
  const problems = watch(page);
  atEnd(t, async () => {
    await context.close();
    assert.deepEqual(problems, []);
  });
  return page;
}

/** What goes wrong on a page, as it goes wrong. */
export function watch(page) {
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`${page.url()}: a dialog says ${dialog.message()}`);
    void dialog.dismiss();
  });
  return problems;
}
