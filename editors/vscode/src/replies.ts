// The JSON replies of the program, as far as the extension uses them. A reply without a key that is needed means that the program does not fit.

import { Failure } from './recall';

export interface Session {
  id: string;
  agent: string;
  project: string;
  /** Local day and time, as text. */
  when: string;
  title: string;
  state: string;
}

export interface Result {
  id: string;
  kind: 'session' | 'note' | 'memory_file';
  project: string;
  day: string;
  title: string;
  foundIn: string;
  passage: string;
}

export interface OpenItem {
  id: string;
  kind: string;
  text: string;
  /** Milliseconds since 1970-01-01 UTC. */
  lastAt: number;
}

export interface Status {
  sessions: number;
  waitingForDigest: number;
  waitingForModel: number;
  failing: number;
  /** Milliseconds since 1970-01-01 UTC; `undefined` before the first digest. */
  lastDigest?: number;
}

type Fields = Record<string, unknown>;

export function sessions(reply: string): Session[] {
  return lines(reply).map((row) => ({
    id: text(row, 'session'),
    agent: text(row, 'agent'),
    project: text(row, 'project'),
    when: text(row, 'when'),
    title: text(row, 'title'),
    state: text(row, 'state'),
  }));
}

export function results(reply: string): Result[] {
  return lines(reply).map((row) => {
    const kind = (['session', 'note', 'memory_file'] as const).find((key) => typeof row[key] === 'string');
    if (!kind) throw unfit('session');
    return {
      id: text(row, kind),
      kind,
      project: typeof row.project === 'string' ? row.project : 'all projects',
      day: text(row, 'day'),
      title: text(row, 'title'),
      foundIn: text(row, 'found_in'),
      passage: text(row, 'passage'),
    };
  });
}

/** The open items of one project, in the order of the reply. */
export function openItems(reply: string, project: string): OpenItem[] {
  return lines(reply)
    .filter((row) => text(row, 'project') === project)
    .flatMap((row) => list(row, 'items'))
    .map((item) => ({ id: text(item, 'id'), kind: text(item, 'kind'), text: text(item, 'text'), lastAt: number(item, 'last_at') }));
}

export function status(reply: string): Status {
  const said = object(reply);
  const run = said.last_run as Fields | null | undefined;
  return {
    sessions: number(said, 'sessions'),
    waitingForDigest: number(said, 'waiting_for_digest'),
    waitingForModel: number(said, 'waiting_for_model'),
    failing: list(said, 'failing').length,
    lastDigest: run ? number(run, 'at') : undefined,
  };
}

/** The root of the project in which a folder is. */
export function project(reply: string): string {
  return text(object(reply), 'project');
}

export function topic(reply: string): string {
  return text(object(reply), 'text');
}

export interface Kept {
  id: string;
  /** A note says it already; nothing was written. */
  known: boolean;
}

export function kept(reply: string): Kept {
  const said = object(reply);
  return { id: text(said, 'id'), known: said.known === true };
}

function lines(reply: string): Fields[] {
  return reply.split('\n').filter((line) => line.trim() !== '').map(object);
}

function object(reply: string): Fields {
  let said: unknown;
  try {
    said = JSON.parse(reply);
  } catch {
    throw unfit('JSON');
  }
  if (typeof said !== 'object' || said === null || Array.isArray(said)) throw unfit('JSON');
  return said as Fields;
}

function text(from: Fields, key: string): string {
  const value = from[key];
  if (typeof value !== 'string') throw unfit(key);
  return value;
}

function number(from: Fields, key: string): number {
  const value = from[key];
  if (typeof value !== 'number') throw unfit(key);
  return value;
}

function list(from: Fields, key: string): Fields[] {
  const value = from[key];
  if (!Array.isArray(value)) throw unfit(key);
  return value as Fields[];
}

function unfit(key: string): Failure {
  return new Failure('old', `The installed recall does not fit this extension: its reply has no \`${key}\`.`);
}
