// Finds the program.
//
// Only absolute paths are ever started: a plain name is looked up in the absolute folders of the PATH and in the folders in which installers put
// programs (an editor started from a desktop often has a short PATH). So no file of the opened folder can take the program's place.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';

export interface Surroundings {
  env: NodeJS.ProcessEnv;
  home: string;
  platform: NodeJS.Platform;
}

export function here(): Surroundings {
  return { env: process.env, home: homedir(), platform: process.platform };
}

/** The absolute path of the program that `setting` names; `undefined` if there is none. */
export async function findProgram(setting: string, at: Surroundings = here()): Promise<string | undefined> {
  for (const candidate of candidates(setting, at)) {
    if (await isProgram(candidate, at.platform)) return candidate;
  }
  return undefined;
}

function candidates(setting: string, at: Surroundings): string[] {
  const name = setting.trim() || 'recall';
  if (name.startsWith('~/')) return [path.join(at.home, name.slice(2))];
  if (path.isAbsolute(name)) return [name];
  if (/[\\/]/.test(name)) return [];
  const file = at.platform === 'win32' && !/\.exe$/i.test(name) ? `${name}.exe` : name;
  return folders(at).map((folder) => path.join(folder, file));
}

function folders(at: Surroundings): string[] {
  const onPath = (at.env.PATH ?? at.env.Path ?? '').split(path.delimiter);
  const cargo = at.env.CARGO_HOME ?? path.join(at.home, '.cargo');
  const usual = [path.join(cargo, 'bin'), path.join(at.home, '.local', 'bin'), '/opt/homebrew/bin', '/usr/local/bin'];
  return [...onPath, ...usual].filter((folder) => path.isAbsolute(folder));
}

async function isProgram(file: string, platform: NodeJS.Platform): Promise<boolean> {
  try {
    await access(file, platform === 'win32' ? constants.F_OK : constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
