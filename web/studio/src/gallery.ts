/** All scenes as pictures to choose from, drawn one by one while the dialog is open. */
import type { App } from './app.js';
import { button, element } from './dom.js';
import { offers } from './stages.js';
import { tours } from './tours.js';
import { thumbnailOf } from './view/thumbnail.js';

export function galleryDialog(app: App): void {
  const pictures = offers.map(() => element('img', { alt: '', width: 240, height: 160 }));
  const cards = offers.map((offer, i) =>
    element(
      'button',
      {
        type: 'button',
        className: 'card',
        title: offer.hint,
        onclick: () => {
          dialog.close();
          app.opener.visit(offer.id);
        },
      },
      pictures[i],
      element('span', {}, offer.title),
    ),
  );
  const begin = (id: string) => {
    dialog.close();
    void app.tour(id);
  };
  const groups = [...new Set(offers.map(({ group }) => group))].map((group) =>
    element('section', {}, element('h3', {}, group), element('div', { className: 'cards' }, ...cards.filter((_, i) => offers[i]!.group === group))),
  );
  const dialog = element(
    'dialog',
    { 'aria-label': 'Scenes', className: 'gallery' },
    element('div', { className: 'row' }, element('h2', {}, 'Scenes'), element('span', { className: 'space' }), button('Close', () => dialog.close())),
    element('section', {}, element('h3', {}, 'Guided tours'), element('div', { className: 'cards' }, ...tours.map(({ id, title, about, steps }) => tourCard(title, about, steps.length, () => begin(id))))),
    ...groups,
  );
  const draw = () => void drawAll(app, dialog, pictures);
  app.events.addEventListener('theme', draw);
  dialog.addEventListener('close', () => {
    dialog.remove();
    app.events.removeEventListener('theme', draw);
    pictures.forEach(({ src }) => URL.revokeObjectURL(src));
  });
  document.body.append(dialog);
  dialog.showModal();
  draw();
}

function tourCard(title: string, about: string, steps: number, onclick: () => void): HTMLElement {
  return element('button', { type: 'button', className: 'card tour-card', onclick }, element('strong', {}, title), element('span', {}, `${about} · ${steps} steps`));
}

/** Draw them one by one, as long as the dialog is open and the colours are these. */
async function drawAll(app: App, dialog: HTMLDialogElement, pictures: HTMLImageElement[]): Promise<void> {
  const { colours } = app;
  for (const [i, { id }] of offers.entries()) {
    await new Promise((done) => setTimeout(done)); // the page stays of use
    const address = dialog.open && app.colours === colours ? await thumbnailOf(app.poise, app.viewport.renderer, id, colours) : '';
    if (!dialog.open || app.colours !== colours) {
      URL.revokeObjectURL(address);
      return;
    }
    URL.revokeObjectURL(pictures[i]!.src);
    pictures[i]!.src = address;
  }
}
