/** Words over the stage: what just happened, what went wrong, how far a long task has come. */
import { button, element } from './dom.js';
import { isPartMissing, PART_MISSING } from './loading/parts.js';

const PASSING = 6000; // milliseconds that a passing notice stays
const READING = 50; // more of them for each letter of a remark

export class Notices {
  readonly root = element('div', { className: 'notice', role: 'alert', hidden: true });
  /** Called when other words are there. */
  onShown: (() => void) | null = null;
  #timer = 0;
  #remarks: string[] = []; // that are shown
  #lasting = ''; // words that stay until they are closed
  #words = element('span');
  #bar = element('progress', { max: 1, 'aria-label': 'Progress' });
  #cancel: (() => void) | null = null;
  #stop = button('Cancel', () => this.#cancel?.());

  say(text: string, passing = false): void {
    this.#show(text);
    this.root.hidden = text === '';
    this.#lasting = passing ? '' : text;
    this.onShown?.();
    if (passing) {
      this.#timer = window.setTimeout(() => (this.root.hidden = true), PASSING);
    }
  }

  /** The words that are shown. */
  get words(): string {
    return this.root.hidden ? '' : (this.root.firstChild?.textContent ?? '');
  }

  /** Where the words are on the page; null: nowhere. */
  get box(): DOMRect | null {
    return this.root.hidden ? null : this.root.getBoundingClientRect();
  }

  #show(content: Node | string): void {
    clearTimeout(this.#timer);
    this.#remarks = [];
    this.#lasting = '';
    this.root.replaceChildren(content, button('Close', () => (this.root.hidden = true), '×'));
    this.root.hidden = false;
    this.root.classList.remove('bad', 'busy');
  }

  /** Words to read that are no obstacle: they go after a while, or with the next action, unless they are unfolded. More of them join. */
  remark(...words: string[]): void {
    const lasting = this.root.hidden ? '' : this.#lasting;
    const [first = '', ...more] = this.root.hidden ? words : [...(lasting ? [lasting] : this.#remarks), ...words];
    const rest = element('details', {}, element('summary', {}, `${more.length} more`), more.join('\n'));
    this.#show(more.length > 0 ? element('div', {}, first, rest) : first);
    this.onShown?.();
    if (lasting) {
      this.#lasting = lasting;
      return;
    }
    this.#remarks = [first, ...more];
    this.#timer = window.setTimeout(() => !rest.open && (this.root.hidden = true), PASSING + READING * first.length);
  }

  /** The user does something else. */
  acted(): void {
    if (this.#remarks.length > 0) {
      this.root.hidden = true;
    }
  }

  complain(error: unknown): void {
    this.say(isPartMissing(error) ? PART_MISSING : error instanceof Error ? error.message : String(error));
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
      this.#remarks = [];
      this.root.replaceChildren(element('div', { className: 'task' }, this.#words, this.#bar), this.#stop);
      this.root.hidden = false;
      this.root.classList.remove('bad');
      this.root.classList.add('busy');
    }
    this.#stop.hidden = !cancel;
  }
}
