// All pages of a memory.

import assert from 'node:assert/strict';

/** The pages that are always there. */
const FIRST = ['', 'search.html?q=order', 'search.html?q=nowhere'];
/** What a memory with everything has beside those. */
const KINDS = ['days', 'sessions', 'projects', 'open', 'told', 'status', 'day/', 'week/', 'session/', 'rows/', 'note/', 'project/', 'forget/'];

/** Goes by links from page to page; calls `look` on each with its address below the folder and the answer. Returns the addresses. */
export async function crawl(page, folder, look, kinds = KINDS) {
  const waiting = [...FIRST];
  const seen = [];
  while (waiting.length) {
    const address = waiting.shift();
    if (seen.includes(address)) continue;
    seen.push(address);
    const reply = await page.goto(folder + address);
    assert.equal(reply.status(), 200, address);
    await look(address, reply);
    const links = await page.locator('a[href]').evaluateAll((all) => all.map((one) => one.href));
    const own = links.filter((link) => link.startsWith(folder)).map((link) => link.slice(folder.length).split('#')[0]);
    // Of a search, other searches are not followed.
    waiting.push(...own.filter((link) => !link.includes('?')));
  }
  for (const kind of kinds) assert.ok(seen.some((address) => address.startsWith(kind)), `no page ${kind} in ${seen}`);
  return seen;
}
