// A home, a data folder and a clock for one test, and `recall` with an environment that holds nothing of the machine's.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const FIXTURES = fileURLToPath(new URL('../../../fixtures/claude-code-2.1.197/', import.meta.url));
/** The clock of every world. */
export const NOW = '2026-11-20T12:00:00Z';
/** The session of the fixture `plain`, which the model digests. */
export const PLAIN = '64b0b6d9-e371-40e8-affe-78e0505dfb3f';

export function program() {
  const file = process.env.RECALL_BIN;
  assert.ok(file && existsSync(file), 'RECALL_BIN has to name the program `recall`, such as target/debug/recall');
  return path.resolve(file);
}

/** What a stand-in for the model says of the session of `plain`. */
const FORM = {
  title: 'Orders go missing between pages of the order list',
  request: 'Find out why orders go missing, show it in a test before any change, keep list_orders small',
  investigated: ['how shop/orders.py pages the list'],
  learned: ['OFFSET counts rows of a list that moves: an order shipped between two pages makes the next page skip one'],
  completed: ['paging by (created_at, id) with an index; 10 tests pass; committed on keyset-order-list'],
  decisions: [{ text: 'The order list uses keyset pagination by (created_at, id), because a row count moves with every order', rows: [17] }],
  files: ['shop/orders.py', 'shop/db.py'],
  blockers: [],
  next_steps: [{ text: 'Migrate the admin export (shop/admin.py), which walks through all orders with OFFSET', rows: [22] }],
  closes: [],
  questions: ['Why do rows vanish while somebody scrolls?'],
};

const SAID = {
  type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: JSON.stringify(FORM), total_cost_usd: 0.0123,
  modelUsage: { 'claude-haiku-4-5-20251001': { inputTokens: 4, outputTokens: 10, costUSD: 0.0123 } }, terminal_reason: 'completed',
};

export class World {
  constructor() {
    this.root = mkdtempSync(path.join(tmpdir(), 'recall-browser-'));
    for (const folder of ['home', 'claude/projects', 'bin']) mkdirSync(this.at(folder), { recursive: true });
    this.children = [];
  }

  at(...names) {
    return path.join(this.root, ...names);
  }

  get environment() {
    return {
      PATH: this.at('bin'), HOME: this.at('home'), CLAUDE_CONFIG_DIR: this.at('claude'), RECALL_DATA_DIR: this.at('data'),
      RECALL_NOW: NOW, TZ: 'Europe/Berlin',
    };
  }

  /** Runs `recall` and returns what it wrote; it has to end with 0. */
  recall(...args) {
    return this.recallWith(args, '');
  }

  recallWith(args, input) {
    return execFileSync(program(), args, { cwd: this.root, env: this.environment, encoding: 'utf8', input, stdio: 'pipe', timeout: 60_000 });
  }

  /** Without the model, unless the arguments say otherwise. */
  digest(...args) {
    return this.recall('digest', ...(args.length ? args : ['--summarizer', 'extract']));
  }

  configure(text) {
    mkdirSync(this.at('home/.config/recall'), { recursive: true });
    writeFileSync(this.at('home/.config/recall/config.toml'), text);
  }

  /** What a session that starts in this folder is told. */
  startNotes(folder) {
    const payload = {
      session_id: '00000003-b0b0-4000-8000-000000000000', transcript_path: this.at(`claude/projects/${folder.replaceAll('/', '-')}/00000003-b0b0-4000-8000-000000000000.jsonl`),
      cwd: folder, hook_event_name: 'SessionStart', permission_mode: 'default',
      source: 'startup', model: 'claude-haiku-4-5-20251001',
    };
    const told = this.recallWith(['hook', 'session-start'], JSON.stringify(payload));
    return JSON.parse(told).hookSpecificOutput.additionalContext;
  }

  /** Follows a link as a browser does, and returns what it is known by from then on. */
  async cookie(link) {
    const reply = await fetch(link);
    assert.equal(reply.status, 200);
    const [pair, ...attributes] = reply.headers.get('set-cookie').split('; ');
    const at = attributes.find((one) => one.startsWith('Path=')).slice('Path='.length);
    return { name: pair.slice(0, pair.indexOf('=')), value: pair.slice(pair.indexOf('=') + 1), domain: '127.0.0.1', path: at, httpOnly: true, sameSite: 'Strict' };
  }

  /** Copies fixtures into the config directory of Claude Code. */
  fixtures(...names) {
    for (const name of names) cpSync(path.join(FIXTURES, name), this.at('claude'), { recursive: true });
    age(this.at('claude'));
  }

  /** Writes the transcript of a session. */
  transcript({ folder, id, text }) {
    mkdirSync(this.at('claude/projects', folder), { recursive: true });
    writeFileSync(this.at('claude/projects', folder, `${id}.jsonl`), text);
    age(this.at('claude/projects', folder));
  }

  /** Puts a shell script on the PATH of this world. The system's commands are at hand in it. */
  script(name, body) {
    writeFileSync(this.at('bin', name), `#!/bin/sh\nPATH=/usr/bin:/bin\n${body}\n`);
    chmodSync(this.at('bin', name), 0o755);
  }

  /** Digests what is new by a model that knows the session of `plain` only. */
  digestByModel() {
    writeFileSync(this.at('said'), JSON.stringify(SAID));
    this.script('claude', `cat > /dev/null\ncat '${this.at('said')}'`);
    this.digest('--summarizer', 'claude');
    rmSync(this.at('bin/claude'));
  }

  /** Begins a digest by a model that answers once it is let go. */
  beginSlowDigest() {
    writeFileSync(this.at('said'), JSON.stringify(SAID));
    // It ends with its world, however the test does.
    this.script('claude', `cat > /dev/null\nuntil [ -e '${this.at('go')}' ] || [ ! -d '${this.root}' ]; do sleep 0.05; done\ncat '${this.at('said')}'`);
    const child = spawn(program(), ['digest', '--summarizer', 'claude'], { cwd: this.root, env: this.environment, stdio: 'ignore' });
    this.children.push(child);
    const ended = new Promise((done) => child.once('exit', done));
    return { ended, letGo: () => writeFileSync(this.at('go'), ''), kill: () => child.kill('SIGKILL') };
  }

  /** Starts `recall serve` and returns what it printed first: a link. */
  async serve(...args) {
    const child = spawn(program(), ['serve', ...args], { cwd: this.root, env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (part) => (errors += part));
    this.children.push(child);
    for await (const link of createInterface({ input: child.stdout })) return { child, link, folder: link.slice(0, link.indexOf('enter/')) };
    throw new Error(`no link: ${errors}`);
  }

  async end() {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((done) => child.once('exit', done));
      child.kill();
      await ended;
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Makes all files below a folder an hour old by the world's clock: recall takes a younger session for one that goes on. */
function age(folder) {
  const at = new Date(Date.parse(NOW) - 3_600_000);
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (statSync(file).isDirectory()) age(file);
    else utimesSync(file, at, at);
  }
}

/** All files below a folder with what they hold. */
export function everything(folder) {
  const all = {};
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    if (statSync(file).isFile()) all[name] = readFileSync(file).toString('latin1');
  }
  return all;
}
