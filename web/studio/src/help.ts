/** The page of help: what one can do, and every key. */
import { button, element } from './dom.js';
import { keys } from './keys.js';

export function helpDialog(): void {
  document.querySelector('dialog')?.remove();
  const uses = [...new Set(keys.map(({ what }) => what))];
  const rows = uses.map((use) => {
    const caps = keys.filter(({ what }) => what === use).flatMap(({ show }) => [element('kbd', {}, show), ' ']);
    return element('tr', {}, element('td', {}, ...caps), element('td', {}, use));
  });
  const dialog = element(
    'dialog',
    { 'aria-label': 'Help' },
    element('div', { className: 'row' }, element('h2', {}, 'Poise studio'), element('span', { className: 'space' }), button('Close', () => dialog.close())),
    element(
      'p',
      {},
      'Pick a scene, or drop a file: URDF, MJCF, BVH, ASF with AMC, C3D, TRC, MOT, glTF, a Denavit-Hartenberg table or poise JSON. Drag a goal by its middle or its arrows; pick a part of the skeleton to give it a goal, to pin it or to lock its joint. Turn the view by dragging, zoom with the wheel or two fingers, shift with the right button. Nothing leaves this machine.',
    ),
    element('table', {}, element('tbody', {}, ...rows)),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
