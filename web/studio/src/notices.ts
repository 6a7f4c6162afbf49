/** Words over the stage: what just happened, what went wrong, how far a long task has come. */
import { button, element } from './dom.js';

const PASSING = 6000; // milliseconds that a passing notice stays
const READING = 50; // more of them for each letter of a remark

export class Notices {
  readonly root = element('div', { className: 'notice', role: 'alert', hidden: true });
  #timer = 0;
  #isRemark = false;
  #words = element('span');
  #bar = element('progress', { max: 1, 'aria-label': 'Progress' });
  #cancel: (() => void) | null = null;
  #stop = button('Cancel', () => this.#cancel?.());

  say(text: string, passing = false): void {
    clearTimeout(this.#timer);
    this.#isRemark = false;
    this.root.replaceChildren(text, button('Close', () => (this.root.hidden = true), '×'));
    this.root.hidden = text === '';
    this.root.classList.remove('bad', 'busy');
    if (passing) {
      this.#timer = window.setTimeout(() => (this.root.hidden = true), PASSING);
    }
  }

  /** Words to read that are no obstacle: they go after a while, longer ones later, or with the next action. More of them join. */
  remark(text: string): void {
    const before = this.#isRemark && !this.root.hidden ? `${this.root.firstChild?.textContent ?? ''}\n` : '';
    this.say(before + text);
    this.#isRemark = true;
    this.#timer = window.setTimeout(() => (this.root.hidden = true), PASSING + READING * (before + text).length);
  }

  /** The user does something else. */
  acted(): void {
    if (this.#isRemark) {
      this.root.hidden = true;
    }
  }

  complain(error: unknown): void {
    this.say(error instanceof Error ? error.message : String(error));
    this.root.classList.add('bad');
  }

  /** How much of a task is done, from 0 to 1; null: no one knows. With `cancel` it can be ended. */
  progress(what: string, part: number | null, cancel: (() => void) | null = null): void {
    this.#cancel = cancel;
    this.#words.textContent = part === null ? `${what} …` : `${what} … ${Math.round(100 * part)} %`;
    if (part === null) {
      this.#bar.removeAttribute('value');
    } else {
      this.#bar.value = part;
    }
    if (!this.root.classList.contains('busy')) {
      clearTimeout(this.#timer);
      this.#isRemark = false;
      this.root.replaceChildren(element('div', { className: 'task' }, this.#words, this.#bar), this.#stop);
      this.root.hidden = false;
      this.root.classList.remove('bad');
      this.root.classList.add('busy');
    }
    this.#stop.hidden = !cancel;
  }
}
