// Stand-ins for the program: small shell scripts that do what a test needs, each in a folder of its own.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

export function temporaryFolder(after: { after(work: () => void): void }): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'recall-vscode-'));
  after.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A program that says it is `version` and otherwise runs `body`. */
export function program(folder: string, body: string, version = '0.1.0'): string {
  const file = path.join(folder, 'recall');
  writeFileSync(file, `#!/bin/sh\nif [ "$1" = --version ]; then echo "recall ${version}"; exit 0; fi\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}
