// Pages of somebody else, and texts that want to be more than texts.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { openPage, served, withBrowser } from './support/browser.mjs';
import { crawl } from './support/crawl.mjs';
import { hostile, memory, OPEN_ITEM } from './support/scenes.mjs';
import { everything } from './support/world.mjs';

const own = withBrowser();
const shown = served(memory);
const attacked = served(hostile);
let port;
let stranger;

before(async () => {
  // Its pages are empty: what they do, tests tell them.
  stranger = createServer((request, reply) => reply.setHeader('content-type', 'text/html').end('<!DOCTYPE html><title>x</title>'));
  await new Promise((done) => stranger.listen(0, '127.0.0.1', done));
  port = stranger.address().port;
});
after(() => stranger.close());

/** The names by which its pages are loaded: of the same site as ours, as browsers see it, and of another one. */
const HOSTS = ['127.0.0.1', 'localhost'];

/** A page of the stranger in a browser that is let in to the memory. Its console complains of what it is refused. */
async function strangersPage(t, host) {
  const page = await openPage(t, own, shown);
  page.removeAllListeners('console');
  await page.goto(`http://${host}:${port}/`);
  return page;
}

/** The id of an open item: an attacker may know it, and the folder, too. */
function itemId() {
  const line = shown.world.recall('todo').split('\n').find((one) => one.includes(OPEN_ITEM));
  return line.trim().split(' ')[0];
}

/** All that the memory is kept in, without what SQLite makes for readers. */
function memoryFiles() {
  const all = everything(shown.world.at('data'));
  return Object.fromEntries(Object.entries(all).filter(([name]) => !name.endsWith('-shm')));
}

for (const host of HOSTS) {
  test(`a page of ${host} reads nothing`, async (t) => {
    const page = await strangersPage(t, host);
    const got = await page.evaluate(async (folder) => {
      const load = (tag, attributes) => new Promise((done) => {
        const one = Object.assign(document.createElement(tag), attributes);
        one.onload = () => done(`${tag} loaded`);
        one.onerror = () => done('refused');
        document.body.append(one);
      });
      const ask = (address, options) => fetch(address, options).then(async (reply) => `${reply.type} ${await reply.text()}`, () => 'refused');
      const results = {};
      for (const address of ['', 'open.html', 'api/v1/status', 'api/v1/search?q=order', 'asset/page.js']) {
        results[`cors ${address}`] = await ask(folder + address, { credentials: 'include' });
        results[`no-cors ${address}`] = await ask(folder + address, { credentials: 'include', mode: 'no-cors' });
      }
      results.image = await load('img', { src: `${folder}asset/icon.svg` });
      results.script = await load('script', { src: `${folder}asset/page.js` });
      results.json = await load('script', { src: `${folder}api/v1/status` });
      results.style = await load('link', { rel: 'stylesheet', href: `${folder}asset/style.css` });
      results.events = await new Promise((done) => {
        const stream = new EventSource(`${folder}live`, { withCredentials: true });
        stream.onmessage = () => done('heard');
        stream.onerror = () => done('refused');
      });
      return results;
    }, shown.server.folder);
    for (const [how, what] of Object.entries(got)) assert.equal(what, 'refused', how);
  });

  test(`a page of ${host} has no window or frame of ours`, async (t) => {
    const page = await strangersPage(t, host);
    const { folder } = shown.server;
    const frame = await page.evaluate((address) => new Promise((done) => {
      const one = Object.assign(document.createElement('iframe'), { src: address });
      one.onload = () => {
        let text = 'closed';
        try {
          text = one.contentDocument?.body?.innerText ?? 'closed';
        } catch { /* as it should be */ }
        done(text);
      };
      document.body.append(one);
    }), folder);
    assert.equal(frame, 'closed');
    assert.equal(page.frames().filter((one) => one.url().startsWith(folder)).length, 0, 'it is shown in a frame');
    const opened = page.context().waitForEvent('page');
    await page.evaluate((address) => {
      globalThis.other = window.open(address, 'name');
    }, folder);
    const popup = await opened;
    await popup.waitForLoadState();
    // Whether or not the browser sent the cookie: the two windows do not know each other.
    assert.equal(await page.evaluate(() => globalThis.other.closed), true);
    assert.equal(await popup.evaluate(() => window.opener), null);
  });

  test(`a page of ${host} changes nothing`, async (t) => {
    const id = itemId();
    const before = memoryFiles();
    const { folder } = shown.server;
    const actions = [['do/close', id], ['do/forget', '00000001-b0b0-4000-8000-000000000000'], ['do/wrong', id], ['api/v1/close', id]];
    for (const [action, one] of actions) {
      const page = await strangersPage(t, host);
      const [reply] = await Promise.all([
        page.waitForResponse(folder + action),
        page.evaluate(([address, value]) => {
          const form = Object.assign(document.createElement('form'), { method: 'post', action: address });
          for (const [name, text] of [['id', value], ['word', '0'.repeat(64)], ['back', 'open.html']]) {
            form.append(Object.assign(document.createElement('input'), { name, value: text }));
          }
          document.body.append(form);
          form.submit();
        }, [folder + action, one]),
      ]);
      assert.ok([401, 403].includes(reply.status()), `${action}: ${reply.status()}`);
      const other = await strangersPage(t, host);
      const sent = await other.evaluate(([address, value]) => fetch(address, {
        method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `id=${value}&word=0`,
      }).then(() => 'sent', () => 'refused'), [folder + action, one]);
      assert.equal(sent, 'refused');
      const third = await strangersPage(t, host);
      const [byLink] = await Promise.all([
        third.waitForResponse((response) => response.url().startsWith(folder + action)),
        third.evaluate((address) => (location.href = address), `${folder}${action}?id=${one}&word=0`),
      ]);
      assert.ok([401, 404, 405].includes(byLink.status()), `${action}: ${byLink.status()}`);
    }
    const now = memoryFiles();
    assert.deepEqual(Object.keys(now), Object.keys(before));
    assert.deepEqual(Object.keys(now).filter((name) => now[name] !== before[name]), []);
    assert.ok(shown.world.recall('todo').includes(OPEN_ITEM));
  });
}

test('a name that begins to mean this machine is not answered', async (t) => {
  const page = await openPage(t, own, {});
  page.removeAllListeners('console');
  const reply = await page.goto(shown.server.folder.replace('127.0.0.1', 'evil.example'));
  assert.equal(reply.status(), 421);
});

test('no text of a transcript is more than a text', async (t) => {
  const page = await openPage(t, own, attacked, { viewport: { width: 360, height: 740 } });
  const { folder } = attacked.server;
  let attacks = 0;
  const look = async (address) => {
    const found = await page.evaluate(() => {
      const all = [...document.querySelectorAll('*')];
      const handlers = all.flatMap((one) => [...one.attributes].filter(({ name }) => name.startsWith('on')).map(({ name }) => name));
      const links = all.filter((one) => /^(javascript|data|vbscript):/i.test(one.getAttribute('href') ?? '')).map((one) => one.outerHTML);
      return {
        handlers, links, scripts: [...document.scripts].map((one) => one.getAttribute('src')),
        strange: all.filter((one) => /^(iframe|object|embed|textarea|img)$/i.test(one.tagName)).length, isHeld: document.body.innerText.includes('alert('),
        width: document.documentElement.scrollWidth,
      };
    });
    const { isHeld, width, ...others } = found;
    assert.deepEqual(others, { handlers: [], links: [], scripts: ['asset/page.js'], strange: 0 }, address);
    assert.ok(width <= 360, `${address} is ${width} wide`);
    attacks += isHeld ? 1 : 0;
    // What is folded, and what has the focus or the mouse.
    await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
    for (const item of (await page.locator('main a, main button, main code').all()).slice(0, 8)) await item.hover({ timeout: 5000 });
  };
  const kinds = ['days', 'sessions', 'projects', 'open', 'status', 'day/', 'week/', 'session/', 'rows/', 'note/', 'project/', 'forget/'];
  await crawl(page, folder, look, kinds);
  assert.ok(attacks >= 8, `the attacks are shown on ${attacks} pages only`);
  // As what is searched for, typed and in an address.
  const words = '"><img src=x onerror=alert(11)><script>alert(12)</script>';
  await page.goto(`${folder}search.html?q=${encodeURIComponent(words)}`);
  await look('search by address');
  await page.goto(`${folder}search.html`);
  await page.getByRole('searchbox').fill(`sort ${words}`);
  await page.waitForResponse(/part=1/);
  await page.getByRole('searchbox').fill('sort');
  await page.locator('#results li').first().waitFor();
  await look('search as typed');
});
