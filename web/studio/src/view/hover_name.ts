/** The name of what is under the pointer: a marker, with how far it is from its place, or a part of the skeleton. */
import { element } from '../dom.js';
import { length } from '../status.js';

export class HoverName {
  #box = element('div', { className: 'hover', hidden: true, 'aria-hidden': 'true' });

  constructor(stage: Element) {
    stage.append(this.#box);
  }

  show(text: string, x: number, y: number): void {
    const stage = this.#box.parentElement!.getBoundingClientRect();
    this.#box.textContent = text;
    this.#box.hidden = false;
    this.#box.style.left = `${Math.min(x - stage.left + 14, stage.width - this.#box.offsetWidth - 6)}px`;
    this.#box.style.top = `${Math.min(y - stage.top + 14, stage.height - this.#box.offsetHeight - 6)}px`;
  }

  /** `miss` in length units, NaN where it cannot be told. */
  showMarker(label: string, miss: number, metres: number, x: number, y: number): void {
    this.show(Number.isFinite(miss) ? `${label} · ${length(miss, metres)}` : label, x, y);
  }

  hide(): void {
    this.#box.hidden = true;
  }
}
