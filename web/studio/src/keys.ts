/** Keyboard: everything that the mouse can do. The list is the help as well. */
import type { App } from './app.js';
import { helpDialog } from './help.js';

interface Key {
  show: string;
  what: string;
  match: (event: KeyboardEvent) => boolean;
  run: (app: App) => void;
}

const plain = (key: string) => (event: KeyboardEvent) => event.key.toLowerCase() === key && !event.ctrlKey && !event.metaKey && !event.altKey;
const control = (key: string, shift: boolean) => (event: KeyboardEvent) =>
  event.key.toLowerCase() === key && (event.ctrlKey || event.metaKey) && event.shiftKey === shift;

const nudges: [string, string, readonly number[]][] = [
  ['arrowleft', '←', [-1, 0, 0]],
  ['arrowright', '→', [1, 0, 0]],
  ['arrowup', '↑', [0, 1, 0]],
  ['arrowdown', '↓', [0, -1, 0]],
  ['pageup', 'Page up', [0, 0, 1]],
  ['pagedown', 'Page down', [0, 0, -1]],
];

function cycle(app: App, by: number): void {
  const count = app.session?.targets.length ?? 0;
  if (count > 0) {
    app.selectTarget((app.viewport.selectedTarget + by + count) % count);
  }
}

export const keys: readonly Key[] = [
  { show: '1', what: 'Add a goal: reach a point', match: plain('1'), run: (app) => app.addGoal('position') },
  { show: '2', what: 'Add a goal: reach and turn', match: plain('2'), run: (app) => app.addGoal('pose') },
  { show: '3', what: 'Add a goal: look at', match: plain('3'), run: (app) => app.addGoal('aim') },
  { show: 'N', what: 'Select the next goal', match: plain('n'), run: (app) => cycle(app, 1) },
  ...nudges.map(([key, show, direction]) => ({ show, what: 'Move the selected goal', match: plain(key), run: (app: App) => app.nudge(direction) })),
  { show: 'Delete', what: 'Remove the selected goal', match: plain('delete'), run: (app) => app.removeGoal(app.viewport.selectedTarget) },
  { show: 'E', what: 'Turn the selected goal', match: plain('e'), run: (app) => app.viewport.gizmoMode('rotate') },
  { show: 'W', what: 'Move the selected goal by its arrows', match: plain('w'), run: (app) => app.viewport.gizmoMode('translate') },
  { show: 'K', what: 'Lock or unlock the picked joint', match: plain('k'), run: (app) => app.selectedJoint >= 0 && app.toggleLock(app.selectedJoint) },
  { show: 'R', what: 'Race all methods', match: plain('r'), run: (app) => app.drawer.race() },
  { show: 'T', what: 'Track the whole recording', match: plain('t'), run: (app) => app.session?.stage.markers && app.track() },
  { show: 'Space', what: 'Play or pause', match: plain(' '), run: (app) => app.play() },
  { show: ',', what: 'One frame back', match: plain(','), run: (app) => app.timeline.step(-1) },
  { show: '.', what: 'One frame on', match: plain('.'), run: (app) => app.timeline.step(1) },
  { show: 'H', what: 'Show everything', match: plain('h'), run: (app) => app.home() },
  { show: 'D', what: 'Dark or light', match: plain('d'), run: (app) => app.switchTheme() },
  { show: 'O', what: 'Open a file', match: plain('o'), run: () => document.querySelector<HTMLInputElement>('input[type=file]')?.click() },
  { show: 'S', what: 'Save the result', match: plain('s'), run: (app) => app.export() },
  { show: 'L', what: 'Copy a link', match: plain('l'), run: (app) => void app.share() },
  { show: 'Ctrl+Z', what: 'Undo', match: control('z', false), run: (app) => app.undo() },
  { show: 'Ctrl+Shift+Z', what: 'Redo', match: control('z', true), run: (app) => app.redo() },
  { show: '?', what: 'This page', match: (event) => event.key === '?', run: () => helpDialog() },
];

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
  addEventListener('keydown', (event) => {
    const key = isTaken(event) ? undefined : keys.find(({ match }) => match(event));
    if (key) {
      event.preventDefault();
      key.run(app);
    }
  });
}
