// A session, and the program that digests it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

export const SESSION = '64b0b6d9-0000-4000-8000-000000000001';

/** A session in the form of Claude Code 2.1, of a few minutes ago. */
export function transcript(cwd: string): string {
  const common = { sessionId: SESSION, cwd, version: '2.1.0', isSidechain: false, userType: 'external', gitBranch: 'main' };
  const at = (seconds: number) => new Date(Date.now() - 120_000 + seconds * 1000).toISOString();
  const lines = [
    { ...common, type: 'user', uuid: 'u1', parentUuid: null, timestamp: at(0), message: { role: 'user', content: 'Where does the pagination cursor come from?' } },
    {
      ...common,
      type: 'assistant',
      uuid: 'a1',
      parentUuid: 'u1',
      timestamp: at(20),
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        stop_reason: 'end_turn',
        content: [{ type: 'text', text: 'The pagination cursor is made in `src/page.rs`, from the id of the last row. <b>Bold</b>.' }],
        usage: { input_tokens: 10, output_tokens: 20 },
      },
    },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

export function digest(program: string, env: NodeJS.ProcessEnv): void {
  const run = spawnSync(program, ['digest', '--session', SESSION, '--summarizer', 'extract'], { encoding: 'utf8', env, timeout: 60_000 });
  assert.equal(run.status, 0, run.stderr);
}
