/** The problem on the screen as programs to copy. */
import type { App } from '../app.js';
import { button, element } from '../dom.js';
import { type Problem, problemOf, type Source } from './problem.js';
import { cText, fileOf, pythonText, shellText, typeScriptText } from './programs.js';

const COMMAND = 'Command';

const languages: readonly (readonly [string, (problem: Problem) => string])[] = [
  [COMMAND, shellText],
  ['Python', pythonText],
  ['C', cText],
  ['TypeScript', typeScriptText],
];

/** A scene by name, the user's file, or, where that has not what is on the screen (bones were fitted to a recording, a figure was turned), what Save writes. */
function sourceOf({ scene, session, takeAlong }: App): Source {
  const { file, robot } = session?.stage ?? {};
  return scene ? { scene } : { file: file && robot ? file : takeAlong.fileName('json') };
}

export function codeDialog(app: App): void {
  const { session } = app;
  if (!session) {
    return;
  }
  const problem = problemOf(session, sourceOf(app));
  const code = element('code');
  const tabs = languages.map(([name, write]) => button(name, () => show(name, write), name, { role: 'tab' }));
  const show = (name: string, write: (problem: Problem) => string) => {
    code.textContent = write(problem);
    skeleton.hidden = session.stage.file === file || (name === COMMAND && app.scene !== null); // which the command knows by its name
    tabs.forEach((tab) => {
      tab.setAttribute('aria-selected', String(tab.textContent === name));
      tab.classList.toggle('chosen', tab.textContent === name);
    });
  };
  const copy = button('Copy', () => {
    void navigator.clipboard.writeText(code.textContent ?? '').then(() => (copy.textContent = 'Copied'));
    setTimeout(() => (copy.textContent = 'Copy'), 1500);
  });
  const file = fileOf(problem);
  const skeleton = element('div', { className: 'row' }, button(`Save ${file}`, () => app.takeAlong.saveSkeleton(file)), element('span', { className: 'hint' }, 'the skeleton that the program reads'));
  const dialog = element(
    'dialog',
    { 'aria-label': 'Code', className: 'code' },
    element('div', { className: 'row' }, element('h2', {}, 'This problem as code'), element('span', { className: 'space' }), copy, button('Close', () => dialog.close())),
    element('p', { className: 'hint' }, 'The skeleton, the goals that are on, the locks and the method. It starts in the pose on the screen.'),
    element('div', { className: 'tabs', role: 'tablist' }, ...tabs),
    element('pre', { tabIndex: 0, 'aria-label': 'The program' }, code),
    skeleton,
  );
  dialog.addEventListener('close', () => dialog.remove());
  show(...languages[0]!);
  document.body.append(dialog);
  dialog.showModal();
}
