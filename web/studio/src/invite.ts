/** Words and a ring at the goal of the first scene, for those who see the studio for the first time. They go with the first touch. */
import type { App } from './app.js';
import { button, element } from './dom.js';

const [ASIDE, EDGE] = [46, 8]; // pixels from the goal to the words, and from them to the edge of the stage

export class Invite {
  #root: HTMLElement | null = null;
  #words = element('div', { className: 'words' });

  constructor(readonly app: App) {}

  /** At the first goal, with a way to the tours. */
  show(main: Element): void {
    const { app } = this;
    const tour = button('Take a tour', () => void app.tour('arm'));
    this.#words.replaceChildren(element('span', {}, 'Drag me'), tour);
    this.#root = element('div', { className: 'invite' }, element('div', { className: 'ring' }), this.#words);
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
      const room = () => box.right - x - this.#words.offsetWidth - EDGE;
      this.#root.classList.remove('stacked');
      this.#root.classList.toggle('stacked', room() < ASIDE);
      const aside = Math.min(ASIDE, room()); // as far to the left as they have to go
      this.#words.style.left = `${aside}px`;
      this.#root.classList.toggle('below', aside < ASIDE);
      this.#root.style.transform = `translate(${x - box.left}px, ${y - box.top}px)`;
    }
  }
}
