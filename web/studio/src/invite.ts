/** Words and a ring at the goal of the first scene, for those who see the studio for the first time. They go with the first touch. */
import type { App } from './app.js';
import { button, element } from './dom.js';

export class Invite {
  #root: HTMLElement | null = null;

  constructor(readonly app: App) {}

  /** At the first goal, with a way to the tours. */
  show(main: Element): void {
    const { app } = this;
    const tour = button('Take a tour', () => void app.tour('arm'));
    this.#root = element('div', { className: 'invite' }, element('div', { className: 'ring' }), element('div', { className: 'words' }, element('span', {}, 'Drag me'), tour));
    main.append(this.#root);
    app.viewport.canvas.addEventListener('pointerdown', () => this.hide(), { once: true });
    addEventListener('keydown', (event) => !['Tab', 'Enter', 'Shift'].includes(event.key) && this.hide(), { once: true });
    this.follow();
  }

  hide(): void {
    this.#root?.remove();
    this.#root = null;
  }

  /** Stay at the goal. */
  follow(): void {
    const at = this.app.session?.targets[0]?.position;
    if (this.#root && at) {
      const box = this.app.viewport.canvas.getBoundingClientRect();
      const { x, y } = this.app.viewport.project(at);
      this.#root.classList.toggle('left', x - box.left > 0.55 * box.width); // words on the side that has room
      this.#root.style.transform = `translate(${x - box.left}px, ${y - box.top}px)`;
    }
  }
}
