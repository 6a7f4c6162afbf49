/** Keyboard: everything that the mouse can do. The list is the help as well. */
import type { App } from './app.js';

interface Key {
  show: string;
  what: string;
  match: (event: KeyboardEvent) => boolean;
  run: (app: App, event: KeyboardEvent) => void;
}

const isPlain = (event: KeyboardEvent): boolean => !event.ctrlKey && !event.metaKey && !event.altKey;
const plain = (key: string) => (event: KeyboardEvent) => event.key.toLowerCase() === key && isPlain(event) && !event.shiftKey;
const shifted = (key: string) => (event: KeyboardEvent) => event.key.toLowerCase() === key && isPlain(event) && event.shiftKey;
const sign = (...keys: string[]) => (event: KeyboardEvent) => keys.includes(event.key) && isPlain(event);
const control = (key: string, shift: boolean) => (event: KeyboardEvent) =>
  event.key.toLowerCase() === key && (event.ctrlKey || event.metaKey) && event.shiftKey === shift;

/** To the right, up and away from the viewer. */
const nudges: [string, string, readonly [number, number, number]][] = [
  ['arrowleft', '←', [-1, 0, 0]],
  ['arrowright', '→', [1, 0, 0]],
  ['arrowup', '↑', [0, 1, 0]],
  ['arrowdown', '↓', [0, -1, 0]],
  ['pageup', 'Page up', [0, 0, 1]],
  ['pagedown', 'Page down', [0, 0, -1]],
];

/** Sideways and upwards, by Shift and an arrow. */
const turns: [string, string, number, number][] = [
  ['arrowleft', 'Shift+←', -1, 0],
  ['arrowright', 'Shift+→', 1, 0],
  ['arrowup', 'Shift+↑', 0, 1],
  ['arrowdown', 'Shift+↓', 0, -1],
];

const ANGLE = Math.PI / 24; // of the view by one key
const NEARER = 1.15;

function cycleJoints(app: App, by: number): void {
  const joints = app.session?.model.joints ?? [];
  const moving = joints.filter((joint) => joint.nq > 0);
  const at = moving.findIndex((joint) => joint.index === app.selectedJoint);
  const next = moving[(at < 0 ? (by > 0 ? 0 : moving.length - 1) : at + by + moving.length) % moving.length];
  if (next) {
    app.selectJoint(next.index);
  }
}

function cycle(app: App, by: number): void {
  const count = app.session?.targets.length ?? 0;
  if (count > 0) {
    app.selectTarget((app.viewport.handles.selected + by + count) % count);
  }
}

/** Every key, as the help lists them. */
export const groups: readonly { title: string; keys: readonly Key[] }[] = [
  {
    title: 'Goals',
    keys: [
      { show: '1', what: 'Add a goal: reach a point', match: plain('1'), run: (app) => app.goals.add('position') },
      { show: '2', what: 'Add a goal: reach and turn', match: plain('2'), run: (app) => app.goals.add('pose') },
      { show: '3', what: 'Add a goal: look at', match: plain('3'), run: (app) => app.goals.add('aim') },
      { show: 'P', what: 'Pin the picked body where it is', match: plain('p'), run: (app) => app.goals.add('pin') },
      { show: 'N', what: 'Select the next goal', match: plain('n'), run: (app) => cycle(app, 1) },
      ...nudges.map(([key, show, direction]) => ({ show, what: 'Move (or turn, after E) the selected goal', match: plain(key), run: (app: App) => app.goals.nudge(direction) })),
      { show: 'Delete', what: 'Remove the selected goal', match: plain('delete'), run: (app) => app.goals.remove(app.viewport.handles.selected) },
      { show: 'W', what: 'Move the selected goal by its arrows', match: plain('w'), run: (app) => app.setArrows('translate') },
      { show: 'E', what: 'Turn the selected goal', match: plain('e'), run: (app) => app.setArrows('rotate') },
      { show: 'X', what: "Arrows along the goal's own axes, or the world's", match: plain('x'), run: (app) => app.setArrowsLocal(!app.viewport.handles.isLocal) },
      { show: 'M', what: 'Snap what is dragged to round lengths and angles', match: plain('m'), run: (app) => app.setSnap(!app.viewport.handles.snaps) },
    ],
  },
  {
    title: 'Skeleton',
    keys: [
      { show: 'J', what: 'Pick the next joint', match: plain('j'), run: (app) => cycleJoints(app, 1) },
      { show: 'Shift+J', what: 'Pick the joint before', match: shifted('j'), run: (app) => cycleJoints(app, -1) },
      { show: 'Escape', what: 'Pick nothing', match: plain('escape'), run: (app) => app.pick(null) },
      { show: 'K', what: 'Lock or unlock the picked joint', match: plain('k'), run: (app) => app.selectedJoint >= 0 && app.toggleLock(app.selectedJoint) },
      { show: 'A', what: 'All answers of an arm to its pose', match: plain('a'), run: (app) => app.answers.find() },
      { show: 'B', what: 'Where a tip can get', match: plain('b'), run: (app) => app.reach.toggle() },
      { show: 'U', what: 'Measure between two points', match: plain('u'), run: (app) => app.measure.toggle() },
      { show: 'R', what: 'Race all methods', match: plain('r'), run: (app) => app.drawer.race() },
    ],
  },
  {
    title: 'Time',
    keys: [
      { show: 'Space', what: 'Play or pause', match: plain(' '), run: (app) => app.play() },
      { show: ',', what: 'One frame back', match: plain(','), run: (app) => app.timeline.step(-1) },
      { show: '.', what: 'One frame on', match: plain('.'), run: (app) => app.timeline.step(1) },
      { show: 'I', what: 'Keyframe of the selected goal here', match: plain('i'), run: (app) => app.goals.key(true) },
      { show: 'Shift+I', what: 'No keyframe of the selected goal here', match: shifted('i'), run: (app) => app.goals.key(false) },
      { show: '[', what: 'Play from here on', match: sign('['), run: (app) => app.timeline.setPlayed('from') },
      { show: ']', what: 'Play up to here', match: sign(']'), run: (app) => app.timeline.setPlayed('to') },
      { show: 'T', what: 'Track the whole recording', match: plain('t'), run: (app) => app.session?.stage.markers && void app.track() },
    ],
  },
  {
    title: 'View',
    keys: [
      { show: 'F', what: 'Look at the selected goal, or the picked part', match: plain('f'), run: (app) => app.focus() },
      { show: 'H', what: 'Show everything', match: plain('h'), run: (app) => app.home() },
      ...turns.map(([key, show, x, y]) => ({ show, what: 'Turn the view', match: shifted(key), run: (app: App) => app.viewport.eye.turn(x * ANGLE, y * ANGLE) })),
      { show: '+', what: 'Nearer', match: sign('+', '='), run: (app) => app.viewport.eye.zoom(NEARER) },
      { show: '-', what: 'Further away', match: sign('-', '_'), run: (app) => app.viewport.eye.zoom(1 / NEARER) },
      { show: 'Shift+X/Y/Z', what: 'Look along an axis; once more: from the other side', match: (event) => /^[xyz]$/i.test(event.key) && isPlain(event) && event.shiftKey, run: (app, event) => app.viewport.lookAlong(event.key.toLowerCase() as 'x' | 'y' | 'z') },
      { show: 'V', what: 'Without perspective, or with it', match: plain('v'), run: (app) => app.setFlat(!app.viewport.eye.isFlat) },
      { show: 'Q', what: 'Coordinate frames of all bodies', match: plain('q'), run: (app) => app.setFrames(!app.viewport.showsFrames) },
      { show: 'D', what: 'Dark or light', match: plain('d'), run: (app) => app.switchTheme() },
    ],
  },
  {
    title: 'Files',
    keys: [
      { show: 'G', what: 'Scenes as pictures', match: plain('g'), run: (app) => void app.gallery() },
      { show: 'O', what: 'Open a file', match: plain('o'), run: () => document.querySelector<HTMLInputElement>('input[type=file]')?.click() },
      { show: 'S', what: 'Save the result', match: plain('s'), run: (app) => void app.takeAlong.export() },
      { show: 'L', what: 'Copy a link', match: plain('l'), run: (app) => void app.takeAlong.share() },
      { show: 'C', what: 'This problem as code', match: plain('c'), run: (app) => void app.takeAlong.code() },
      { show: 'Ctrl+Z', what: 'Undo', match: control('z', false), run: (app) => app.undo() },
      { show: 'Ctrl+Shift+Z', what: 'Redo', match: control('z', true), run: (app) => app.redo() },
      { show: '?', what: 'This page', match: (event) => event.key === '?', run: (app) => void app.help() },
    ],
  },
];

const keys = groups.flatMap((group) => group.keys);

/** Keys that a focused control uses itself. */
function isTaken(event: KeyboardEvent): boolean {
  const at = event.target as HTMLElement;
  if (document.querySelector('dialog[open]') || at.tagName === 'SELECT') {
    return true;
  }
  if (at.tagName === 'INPUT') {
    return (at as HTMLInputElement).type !== 'checkbox' ? !event.ctrlKey : event.key === ' ';
  }
  return (at.tagName === 'BUTTON' || at.tagName === 'SUMMARY') && (event.key === ' ' || event.key === 'Enter');
}

export function listenToKeys(app: App): void {
  addEventListener('click', (event) => {
    const pressed = event.detail > 0 ? (event.target as HTMLElement).closest<HTMLElement>('button, summary') : null;
    if (pressed && !pressed.closest('dialog')) {
      pressed.blur(); // by the pointer: Space plays, and does not press it again
    }
  });
  addEventListener('keydown', (event) => {
    const key = isTaken(event) ? undefined : keys.find(({ match }) => match(event));
    if (key) {
      event.preventDefault();
      key.run(app, event);
    }
  });
}
