/** Words over the stage: what just happened, what went wrong, how far a long task has come. */
import { button, element } from './dom.js';

const PASSING = 6000; // milliseconds that a passing notice stays

export class Notices {
  readonly root = element('div', { className: 'notice', role: 'alert', hidden: true });
  #timer = 0;

  say(text: string, passing = false): void {
    clearTimeout(this.#timer);
    this.root.replaceChildren(text, button('Close', () => (this.root.hidden = true), '×'));
    this.root.hidden = text === '';
    this.root.classList.remove('bad');
    if (passing) {
      this.#timer = window.setTimeout(() => (this.root.hidden = true), PASSING);
    }
  }

  complain(error: unknown): void {
    this.say(error instanceof Error ? error.message : String(error));
    this.root.classList.add('bad');
  }

  /** How much of a task is done, from 0 to 1. */
  progress(what: string, part: number): void {
    this.say(`${what} … ${Math.round(100 * part)} %`);
  }
}
