/** The page of help: what one can do, and every key. */
import { button, element } from './dom.js';
import { groups } from './keys.js';

export function helpDialog(): void {
  document.querySelector('dialog')?.remove();
  const tables = groups.map(({ title, keys }) => {
    const uses = [...new Set(keys.map(({ what }) => what))];
    const rows = uses.map((use) => {
      const caps = keys.filter(({ what }) => what === use).flatMap(({ show }) => [element('kbd', {}, show), ' ']);
      return element('tr', {}, element('td', {}, ...caps), element('td', {}, use));
    });
    return element('section', {}, element('h3', {}, title), element('table', {}, element('tbody', {}, ...rows)));
  });
  const dialog = element(
    'dialog',
    { 'aria-label': 'Help', className: 'help' },
    element('div', { className: 'row' }, element('h2', {}, 'Poise studio'), element('span', { className: 'space' }), button('Close', () => dialog.close())),
    element(
      'p',
      {},
      'Pick a scene, or drop a file: URDF, MJCF, OpenSim, BVH, ASF with AMC, C3D, TRC, MOT, glTF, a Denavit-Hartenberg table or poise JSON; a robot with its meshes as a folder or zip. Drag a goal by its middle or its arrows; pick a part of the skeleton to give it a goal, to pin it or to lock its joint. Turn the view by dragging, zoom with the wheel, shift with the right button; by touch, one finger turns it, two zoom and shift it. Nothing leaves this machine.',
    ),
    element('div', { className: 'columns' }, ...tables),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
