/** The bar above the stage: the menu of scenes, opening, undo, and what can be taken along. */
import type { App } from './app.js';
import { button, element } from './dom.js';
import { offers } from './stages.js';

export class Bar {
  readonly root: HTMLElement;
  #menu: HTMLSelectElement;
  #own = element('option', { value: '', hidden: true }, 'Your file'); // the entry for the user's file
  #undo: HTMLButtonElement;
  #redo: HTMLButtonElement;
  #file = element('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Files to open' });

  constructor(readonly app: App) {
    this.#menu = this.#makeMenu();
    this.#undo = button('Undo (Ctrl+Z)', () => app.undo(), '↶');
    this.#redo = button('Redo (Ctrl+Shift+Z)', () => app.redo(), '↷');
    this.#file.addEventListener('change', () => {
      const list = Array.from(this.#file.files ?? []);
      this.#file.value = '';
      void app.opener.openDropped(list);
    });
    this.root = element(
      'header',
      {},
      element('h1', {}, 'Poise'),
      this.#menu,
      button('Scenes as pictures (G)', () => void app.gallery(), 'Gallery'),
      button('Open a file (O)', () => this.#file.click(), 'Open'),
      this.#file,
      element('span', { className: 'space' }),
      this.#undo,
      this.#redo,
      button('Copy a link to this (L)', () => void app.takeAlong.share(), 'Share'),
      button('Save the result (S)', () => void app.takeAlong.export(), 'Save'),
      button('This problem as code (C)', () => void app.takeAlong.code(), 'Code'),
      button('Dark or light (D)', () => app.switchTheme(), '◐'),
      button('Help and keys (?)', () => void app.help(), '?'),
      button('Show or hide the panel', () => this.#togglePanel(), '☰', { className: 'menu' }),
    );
  }

  #togglePanel(): void {
    if (!document.body.classList.toggle('panel-hidden')) {
      this.app.makeRoomFor('panel');
    }
  }

  #makeMenu(): HTMLSelectElement {
    const groups = [...new Set(offers.map((offer) => offer.group))];
    const menu = element(
      'select',
      { 'aria-label': 'Scene' },
      this.#own,
      ...groups.map((group) =>
        element('optgroup', { label: group }, ...offers.filter((o) => o.group === group).map((o) => element('option', { value: o.id }, o.title))),
      ),
    );
    menu.addEventListener('change', () => menu.value && this.app.opener.visit(menu.value));
    return menu;
  }

  /** What is on the stage now; null: a file of the user. */
  show(scene: string | null, title: string): void {
    this.#own.hidden = scene !== null;
    this.#own.textContent = title;
    this.#menu.value = scene ?? '';
  }

  refresh(): void {
    this.#undo.disabled = !this.app.canUndo;
    this.#redo.disabled = !this.app.canRedo;
  }
}
