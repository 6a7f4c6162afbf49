/** The page of help: what one can do, and every key. */
import { button, element } from './dom.js';
import { keys } from './keys.js';

export function helpDialog(): void {
  document.querySelector('dialog')?.remove();
  const rows = keys.map(({ show, what }) => element('tr', {}, element('td', {}, element('kbd', {}, show)), element('td', {}, what)));
  const dialog = element(
    'dialog',
    { 'aria-label': 'Help' },
    element('h2', {}, 'Poise studio'),
    element(
      'p',
      {},
      'Pick a scene, or drop a file: URDF, MJCF, BVH, ASF with AMC, C3D, TRC, MOT, glTF, a Denavit-Hartenberg table or poise JSON. Drag a goal by its arrows. Turn the view by dragging, zoom with the wheel or two fingers, shift with the right button. Nothing leaves this machine.',
    ),
    element('table', {}, element('tbody', {}, ...rows)),
    element('div', { className: 'row' }, button('Close', () => dialog.close())),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
