// The memories that tests look at.

import { World } from './world.mjs';
import { Transcript } from './transcripts.mjs';

/** What stays open in `kitchen`. */
export const OPEN_ITEM = 'Print the shopping list in two columns';
/** The session that leaves it open. */
export const LABELS = '00000001-b0b0-4000-8000-000000000000';
/** What the hooks tell a session; by default they are silent when the machine is slow. */
const PATIENT = '[hooks]\ndeadline_ms = 5000\n';

function labels() {
  return new Transcript(1, 'kitchen', '2026-11-18T08:10:00Z', { branch: 'labels' })
    .user('The labels of the jars are cut off at the printer. Make them fit, and never change the font.')
    .uses('Read', { file_path: '/home/dev/src/kitchen/src/labels.py' }, 'WIDTH = 62')
    .uses('Edit', { file_path: '/home/dev/src/kitchen/src/labels.py', old_string: 'WIDTH = 62', new_string: 'WIDTH = 58' }, 'The file has been updated.')
    .bash('pytest tests/labels -q', '12 passed in 0.4s')
    .tasks(OPEN_ITEM, 'Ask which paper the new printer takes')
    .assistant('The labels are 58 mm wide now: the printer leaves 2 mm free on each side. All 12 tests pass.')
    .titled('Labels of the jars fit the printer');
}

function units() {
  return new Transcript(2, 'kitchen', '2026-11-19T09:30:00Z')
    .user('Recipes mix grams and cups. Convert all of them to grams, and never change the font of the cards.')
    .bash('pytest tests/units -q', '1 failed, 8 passed in 0.6s\nE  AssertionError: 1 cup of flour is 120 g, not 240 g', true)
    .assistant('A cup weighs what is in it: flour 120 g, sugar 200 g, water 240 g. The converter has a table for each ingredient now.')
    .uses('Edit', { file_path: '/home/dev/src/kitchen/src/units.py', old_string: '240', new_string: 'GRAMS[name]' }, 'The file has been updated.')
    .bash('pytest tests/units -q', '9 passed in 0.5s')
    .bash("git commit -qam 'Weigh a cup by its ingredient'", '[main 4f1c2ab] Weigh a cup by its ingredient\n 1 file changed')
    .assistant('All 9 tests pass. Committed as `4f1c2ab`.')
    .titled('Recipes in grams');
}

/** Told by the hooks what earlier sessions left, and uses it. */
function printing(notes) {
  return new Transcript(3, 'kitchen', '2026-11-20T09:00:00Z')
    .told(notes)
    .user('Go on with the shopping list. Never change the font!')
    .uses('Read', { file_path: '/home/dev/src/kitchen/src/labels.py' }, 'WIDTH = 58')
    .bash('pytest tests/labels -q', '12 passed in 0.4s')
    .assistant('The list reads the width of the labels. Two columns need a printer that is wider than 58 mm.')
    .titled('The shopping list needs a wider printer');
}

/** Some days of two projects: digests by a model and without, decisions, notes, rules, open items, and a session that was told something. */
export function memory() {
  const world = new World();
  world.configure(PATIENT);
  world.fixtures('plain');
  world.digestByModel();
  world.fixtures('compact', 'retry', 'subagent');
  world.transcript(labels());
  world.transcript(units());
  world.digest();
  world.recall('remember', '--project', '/home/dev/src/kitchen', '--kind', 'decision', 'Weights are in grams everywhere, because cups differ by ingredient');
  world.recall('remember', '--everywhere', '--kind', 'preference', 'Commit messages are in English');
  world.transcript(printing(world.startNotes('/home/dev/src/kitchen')));
  world.digest();
  return world;
}

const ATTACK = '</title></textarea></script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)> '
  + '[x](javascript:alert(4)) <a href="javascript:alert(5)">y</a> " onmouseover="alert(6)" autofocus onfocus="alert(7) <iframe srcdoc="<script>alert(8)</script>">';

/** A memory in which every text that a transcript can hold is an attack on a browser. */
export function hostile() {
  const world = new World();
  const session = new Transcript(1, 'kitchen', '2026-11-19T09:30:00Z', { branch: `x${ATTACK}` });
  session.cwd = '/home/dev/src/<script>alert(9)<|script><img src=x onerror=alert(10)>';
  session
    .user(`Sort it ${ATTACK}`)
    .tasks(`Sort more ${ATTACK}`)
    .uses('Read', { file_path: `${session.cwd}/${ATTACK}.py` }, ATTACK)
    .uses('Edit', { file_path: `${session.cwd}/a${ATTACK}.py`, old_string: ATTACK, new_string: `b${ATTACK}` }, 'The file has been updated.')
    .bash(`pytest ${ATTACK}`, `9 passed in 0.5s ${ATTACK}`)
    .bash(`pytest ${ATTACK}`, `Error: ${ATTACK}`, true)
    .bash(`git commit -qam '${ATTACK}'`, `[main 4f1c2ab] ${ATTACK}\n 1 file changed`)
    .assistant(`Decision: ${ATTACK}\n\n\`\`\`html\n${ATTACK}\n\`\`\`\n\n# ${ATTACK}\n\n- ${ATTACK}\n\n| a | ${ATTACK} |\n|---|---|\n`)
    .titled(`Sorted ${ATTACK}`);
  world.transcript(session);
  world.digest();
  world.recall('remember', '--everywhere', '--kind', 'todo', `Sort again ${ATTACK}`);
  world.digest();
  return world;
}
